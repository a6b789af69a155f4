/** Lines of a cold session to be moved into a block: all that is needed to do so, as data. */
export interface ColdBlock {
  /** Its number in the log. */
  readonly session: number
  /** `cold_to` of the session, before and after. */
  readonly from: number
  readonly upTo: number
  /** The events whose lines it holds. None: all of them stay as they are. */
  readonly seqs: readonly number[]
  readonly rawBytes: number
  readonly body: Uint8Array<ArrayBuffer>
}

/** Which sessions are cold: those whose last event is not later than this, in milliseconds. */
export interface ColdBefore {
  readonly ended: number
  readonly others: number
}

export interface ColdThreadData {
  readonly file: string
  readonly before: ColdBefore
  /** Shared with it: 1 when it is to end. */
  readonly stop: Int32Array
}

/** `next`: the block is kept. */
export type ToColdThread = "next" | "end"

export type FromColdThread =
  | { readonly kind: "block"; readonly block: ColdBlock }
  /** All sessions were looked at. `isLeft`: some will be cold later. */
  | { readonly kind: "done"; readonly isLeft: boolean }
