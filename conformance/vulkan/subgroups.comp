#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
layout(local_size_x = LOCAL) in;
layout(binding = 0) readonly buffer I { uint a[]; };
layout(binding = 1) buffer O { uint o[]; };
void main() {
  uint i = gl_GlobalInvocationID.x, x = a[i], s = gl_SubgroupSize, l = gl_SubgroupInvocationID;
  uint b = i * 16;
  o[b] = s; o[b + 1] = l;
  o[b + 2] = subgroupAdd(x);
  o[b + 3] = subgroupInclusiveAdd(x);
  o[b + 4] = subgroupExclusiveMin(x);
  uvec4 m = subgroupBallot((x & 1) != 0);
  o[b + 5] = m.x; o[b + 6] = m.y; o[b + 7] = m.z;
  o[b + 8] = subgroupShuffleXor(x, 37);
  o[b + 9] = subgroupShuffleUp(x, 3);
  o[b + 10] = subgroupShuffleDown(x, 3);
  o[b + 11] = subgroupBroadcastFirst(x) + (subgroupElect() ? 1000000 : 0);
  o[b + 12] = subgroupClusteredMax(x, 8);
  o[b + 13] = subgroupShuffle(x, (l * 7) % s);
  o[b + 14] = (subgroupAny(x > 4000) ? 1 : 0) | (subgroupAll(x < 4096) ? 2 : 0) | (subgroupAllEqual(x) ? 4 : 0) | subgroupBallotExclusiveBitCount(m) << 8;
  uint r = 0;
  if (x % 3 == 0) r = subgroupAdd(x); else if (x % 3 == 1) r = subgroupMax(x); else { for (uint n = 0; n < x % 5; n++) r += subgroupBallotBitCount(subgroupBallot(true)); }
  o[b + 15] = r;
}
