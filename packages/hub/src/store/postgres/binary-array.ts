/** PostgreSQL's binary form of arrays: unlike its text form nothing is escaped, neither here nor there. */

const ELEMENT = { int8: 20, int4: 23, text: 25, uuid: 2950 } as const
/** Number of dimensions, whether there are nulls, type of the elements, their count, and the index of the first. */
const HEADER_BYTES = 20
const LENGTH_BYTES = 4
const NULL_LENGTH = -1
const UUID_BYTES = 16

function header(type: keyof typeof ELEMENT, count: number, dataBytes: number): Buffer {
  const array = Buffer.allocUnsafe(HEADER_BYTES + count * LENGTH_BYTES + dataBytes)
  array.writeInt32BE(1, 0)
  array.writeInt32BE(1, 4)
  array.writeInt32BE(ELEMENT[type], 8)
  array.writeInt32BE(count, 12)
  array.writeInt32BE(1, 16)
  return array
}

export function intArray(values: readonly number[]): Buffer {
  const array = header("int4", values.length, values.length * 4)
  let place = HEADER_BYTES
  for (const value of values) {
    place = array.writeInt32BE(4, place)
    place = array.writeInt32BE(value, place)
  }
  return array
}

/** Whole numbers up to 2^53. */
export function bigintArray(values: readonly number[]): Buffer {
  const array = header("int8", values.length, values.length * 8)
  let place = HEADER_BYTES
  for (const value of values) {
    place = array.writeInt32BE(8, place)
    place = array.writeInt32BE(Math.floor(value / 2 ** 32), place)
    place = array.writeUInt32BE(value >>> 0, place)
  }
  return array
}

/** Each of 16 bytes. */
export function uuidArray(values: readonly (Uint8Array | null)[]): Buffer {
  const count = values.reduce((sum, value) => (value === null ? sum : sum + 1), 0)
  const array = header("uuid", values.length, count * UUID_BYTES)
  let place = HEADER_BYTES
  for (const value of values) {
    place = array.writeInt32BE(value === null ? NULL_LENGTH : UUID_BYTES, place)
    if (value === null) continue
    array.set(value, place)
    place += UUID_BYTES
  }
  return array
}

export function textArray(values: readonly (string | null)[]): Buffer {
  const lengths = values.map((value) => (value === null ? NULL_LENGTH : Buffer.byteLength(value)))
  const bytes = lengths.reduce((sum, length) => sum + Math.max(0, length), 0)
  const array = header("text", values.length, bytes)
  let place = HEADER_BYTES
  for (const [index, value] of values.entries()) {
    place = array.writeInt32BE(lengths[index] ?? NULL_LENGTH, place)
    if (value !== null) place += array.write(value, place)
  }
  return array
}
