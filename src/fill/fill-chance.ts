/** Chance that adding an order cannot change for another. */

/** A number in [0, 1) that depends on the seed, the order and the event and on nothing else. */
export function draw(seed: number, orderId: string, eventSeq: number): number {
  let hash = mix(0x81_1c_9d_c5 ^ seed);
  for (let at = 0; at < orderId.length; at++) hash = mix(hash ^ orderId.charCodeAt(at));
  hash = mix(hash ^ (eventSeq >>> 0));
  hash = mix(hash ^ Math.floor(eventSeq / 0x1_00_00_00_00));
  return (hash >>> 0) / 0x1_00_00_00_00;
}

/** MurmurHash3's finalizer: every bit of the input moves half the bits of what comes out. */
function mix(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85_eb_ca_6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2_b2_ae_35);
  return hash ^ (hash >>> 16);
}
