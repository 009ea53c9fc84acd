//! Checks requests: only a client with the printed address is accepted, and no page of another site in the
//! same browser.

use std::fmt::Write;

use anyhow::Context;

use super::http::{Request, Response};

/// Number of random bytes in an address.
const TOKEN_BYTES: usize = 16;

/// The address of the server.
pub struct Gate {
    port: u16,
    /// The start of every path: `/TOKEN/`.
    path: String,
}

impl Gate {
    /// Makes a random address that cannot be guessed.
    ///
    /// # Errors
    /// The call fails if the system has no random numbers.
    pub fn new(port: u16) -> anyhow::Result<Self> {
        let mut token = [0; TOKEN_BYTES];
        getrandom::fill(&mut token).context("no random numbers")?;
        let mut path = String::from("/");
        for byte in token {
            write!(path, "{byte:02x}")?;
        }
        path.push('/');
        Ok(Self { port, path })
    }

    /// The port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The start of every path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The part of the request's path after the token.
    ///
    /// # Errors
    /// The call fails with the response for a request that is not accepted.
    pub fn question<'r>(&self, request: &'r Request) -> Result<&'r str, Response> {
        let no = || Response::text(403, "this is not the address that a4emu serve has printed");
        let here = |name: &str| format!("{name}:{}", self.port);
        let is_here =
            |host: &str| [here("127.0.0.1"), here("localhost")].contains(&host.to_ascii_lowercase());
        let [host] = &request.hosts[..] else { return Err(no()) };
        // A page of another site has another origin. A foreign name that resolves to this machine has
        // another host.
        let is_same = |origin: &String| *origin == format!("http://{host}");
        if !is_here(host) || !request.origins.iter().all(is_same) {
            return Err(no());
        }
        let question = request.target.strip_prefix(&self.path).ok_or_else(no)?;
        match request.method.as_str() {
            "GET" => Ok(question),
            _ => Err(Response::text(405, "only GET")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(gate: &Gate, host: &str, origin: Option<&str>) -> Request {
        Request {
            method: "GET".into(),
            target: format!("{}frame.json", gate.path()),
            hosts: vec![host.into()],
            origins: origin.into_iter().map(str::to_owned).collect(),
        }
    }

    #[test]
    fn only_the_address_itself_gets_in() {
        let gate = Gate::new(80).expect("random numbers");
        fn answer<'r>(gate: &Gate, request: &'r Request) -> Result<&'r str, u16> {
            gate.question(request).map_err(|response| response.status)
        }
        assert_eq!(answer(&gate, &request(&gate, "127.0.0.1:80", None)), Ok("frame.json"));
        assert_eq!(
            answer(&gate, &request(&gate, "LOCALHOST:80", Some("http://LOCALHOST:80"))),
            Ok("frame.json")
        );
        for (host, origin) in [
            ("127.0.0.1", None),
            ("evil.example:80", None),
            ("localhost:80", Some("http://evil.example")),
            ("localhost:80", Some("null")),
        ] {
            assert_eq!(answer(&gate, &request(&gate, host, origin)), Err(403), "{host} {origin:?}");
        }
        let good = request(&gate, "localhost:80", None);
        assert_eq!(answer(&gate, &Request { hosts: Vec::new(), ..good.clone() }), Err(403));
        assert_eq!(answer(&gate, &Request { target: "/0/frame.json".into(), ..good.clone() }), Err(403));
        assert_eq!(answer(&gate, &Request { method: "POST".into(), ..good }), Err(405));
    }
}
