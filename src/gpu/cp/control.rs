//! Calls, conditions, state groups and predicates.

use a4emu_decoder::a4xx::pm4::{
    CondExecRange, CondRegExec, DrawPredEnableGlobal, DrawPredSet, DrawPredSrc, DrawPredTest, DrawStateGroup,
    IndirectBufferCall, SetDrawState,
};
use a4emu_decoder::guesses::Guess;

use super::stream::Step;
use super::{Cp, DrawPredicate, GROUPS, Group, Passes};
use crate::fault::Client;
use a4emu_shader::Reach;

impl Cp<'_> {
    /// Runs the buffer of an indirect-buffer packet of any opcode.
    pub(super) fn indirect_buffer(&mut self, call: IndirectBufferCall) -> Step {
        self.call_buffer(call.address, call.dwords, Client::CommandStream)
    }

    /// Takes a conditional call (guess `conditional-buffer`), and reports the condition as unsupported.
    pub(super) fn conditional_call(&mut self, name: &str, call: IndirectBufferCall) -> Step {
        self.gpu.note_guess(Guess::ConditionalBuffer, Reach::CONTROL);
        self.unsupported(&format!("the condition of {name}"));
        self.indirect_buffer(call)
    }

    /// CP_COND_REG_EXEC: skips the next dwords if the condition does not hold.
    pub(super) fn cond_reg_exec(&mut self, packet: &CondRegExec<'_>) -> Step {
        let (execute, dwords) = match packet.range() {
            Some(CondExecRange::Predicate { dwords }) => (self.gpu.cp.predicate.unwrap_or(true), dwords),
            Some(CondExecRange::Registers { reg0, reg1, dwords }) => {
                (self.read_reg(reg0) == self.read_reg(reg1), dwords)
            }
            None => {
                self.unsupported(&format!("CP_COND_REG_EXEC mode {:?}", packet.control.MODE()));
                return Step::Next;
            }
        };
        if execute { Step::Next } else { Step::Skip(dwords) }
    }

    /// CP_SET_DRAW_STATE: sets or removes state groups, or runs them at once.
    pub(super) fn set_draw_state(&mut self, packet: &SetDrawState<'_>) -> Step {
        for entry in packet.groups() {
            if let Step::Stop = self.set_group(entry) {
                return Step::Stop;
            }
        }
        Step::Next
    }

    fn set_group(&mut self, entry: DrawStateGroup) -> Step {
        let control = entry.control;
        let groups = &mut self.gpu.cp.groups;
        if control.DISABLE_ALL_GROUPS() {
            *groups = [None; GROUPS];
            return Step::Next;
        }
        let slot = &mut groups[control.GROUP_ID() as usize];
        *slot = None;
        if control.DISABLE() || control.COUNT() == 0 {
            return Step::Next;
        }
        if control.LOAD_IMMED() {
            return self.call_buffer(entry.address, control.COUNT(), Client::DrawState);
        }
        *slot = Some(Group { address: entry.address, dwords: control.COUNT(), passes: Passes::ALL });
        Step::Next
    }

    /// CP_DRAW_PRED_ENABLE_GLOBAL: also resets the predicate and the inner switch.
    pub(super) fn draw_pred_global(&mut self, packet: &DrawPredEnableGlobal) {
        let global = packet.enable.ENABLE();
        self.gpu.cp.draw_predicate = DrawPredicate { global, ..DrawPredicate::default() };
    }

    /// CP_DRAW_PRED_SET: tests a 64-bit value in memory.
    ///
    /// The address is one dword; the only documented layout is that of 64-bit chips (guess `draw-predicate`).
    pub(super) fn draw_pred_set(&mut self, packet: &DrawPredSet<'_>) {
        self.gpu.note_guess(Guess::DrawPredicate, Reach::CONTROL);
        let (DrawPredSrc::PRED_SRC_MEM, Some(address)) = (packet.control.SRC(), packet.MEM_ADDR) else {
            return self.unsupported(&format!("CP_DRAW_PRED_SET from {:?}", packet.control.SRC()));
        };
        self.depends_on_draws("the predicate of CP_DRAW_PRED_SET", address);
        let zero = self.load_wide(address, 8) == 0;
        self.gpu.cp.draw_predicate.pass = zero == (packet.control.TEST() == DrawPredTest::EQ_0_PASS);
    }
}
