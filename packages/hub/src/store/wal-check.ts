import { closeSync, fstatSync, openSync, readSync } from "node:fs"
import { HubError } from "../errors.ts"

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const MAGIC_LITTLE = 0x377f0682
const MAGIC_BIG = 0x377f0683

interface Sum {
  readonly first: number
  readonly second: number
}

/**
 * SQLite reads a write-ahead log up to the first frame that is wrong and forgets the rest in silence: with damage near its
 * beginning a hub would start without all it had confirmed. A transaction that was cut off by the end of the process is no
 * damage: nothing that was committed stands after it.
 */
export function checkWriteAheadLog(database: string): void {
  const file = `${database}-wal`
  const at = damageIn(file)
  if (at === undefined) return
  const message =
    `The write-ahead log ${file} is damaged at byte ${at}, and what was written after that cannot be read. Nothing was changed. ` +
    `Restore a backup of the data folder; or keep a copy of the folder, and go on with what is left after "truncate -s ${at} '${file}'"`
  throw new HubError("start/damaged", message)
}

/** Where it begins to be wrong. Undefined: nowhere, or there is no log. */
function damageIn(file: string): number | undefined {
  let descriptor: number
  try {
    descriptor = openSync(file, "r")
  } catch {
    return undefined
  }
  try {
    return firstDamage(descriptor, fstatSync(descriptor).size)
  } finally {
    closeSync(descriptor)
  }
}

function firstDamage(descriptor: number, size: number): number | undefined {
  if (size <= HEADER_BYTES) return undefined
  const header = readAt(descriptor, 0, HEADER_BYTES)
  const magic = header.readUInt32BE(0)
  const pageBytes = header.readUInt32BE(8)
  const isLittle = magic === MAGIC_LITTLE
  let sum = addTo({ first: 0, second: 0 }, header.subarray(0, 24), isLittle)
  const isHeader = (isLittle || magic === MAGIC_BIG) && isPageSize(pageBytes) && isSum(header, 24, sum)
  if (!isHeader) return 0
  const frameBytes = FRAME_HEADER_BYTES + pageBytes
  const isOfThisLog = (frame: Buffer) => frame.compare(header, 16, 24, 8, 16) === 0
  const isCommit = (frame: Buffer) => frame.readUInt32BE(4) !== 0
  let wrong: number | undefined
  for (let at = HEADER_BYTES; at + frameBytes <= size; at += frameBytes) {
    if (wrong === undefined) {
      const frame = readAt(descriptor, at, frameBytes)
      sum = addTo(addTo(sum, frame.subarray(0, 8), isLittle), frame.subarray(FRAME_HEADER_BYTES), isLittle)
      if (!isOfThisLog(frame) || !isSum(frame, 16, sum)) wrong = at
    } else {
      // Frames of the log before this one lie behind its end, with another mark.
      const frame = readAt(descriptor, at, FRAME_HEADER_BYTES)
      if (isOfThisLog(frame) && isCommit(frame)) return wrong
    }
  }
  return undefined
}

function readAt(descriptor: number, position: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes)
  readSync(descriptor, buffer, 0, bytes, position)
  return buffer
}

function isPageSize(bytes: number): boolean {
  return bytes >= 512 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0
}

function isSum(buffer: Buffer, offset: number, { first, second }: Sum): boolean {
  return buffer.readUInt32BE(offset) === first && buffer.readUInt32BE(offset + 4) === second
}

/** SQLite's own running checksum, over pairs of words. */
function addTo({ first, second }: Sum, bytes: Buffer, isLittle: boolean): Sum {
  let [a, b] = [first, second]
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + view.getUint32(at, isLittle) + b) >>> 0
    b = (b + view.getUint32(at + 4, isLittle) + a) >>> 0
  }
  return { first: a, second: b }
}
