import { createValueStore } from "../app/value-store.ts"

/** Sessions that are chosen for something that is done to all of them. */
export interface Selection {
  readonly ids: ReadonlySet<string>
  /** Where a range begins. */
  readonly anchor?: string
}

export const NOTHING_SELECTED: Selection = { ids: new Set() }

export const selection = createValueStore(NOTHING_SELECTED)

/** Ids of the rows that can be seen, in their order: a range never takes one that is folded away. Asked for when a range is made. */
let order: () => readonly string[] = () => []

export function setSelectionOrder(seen: () => readonly string[]): void {
  order = seen
}

export function toggleSelected(id: string): void {
  selection.set(toggled(selection.get(), id))
}

export function selectTo(id: string): void {
  selection.set(extended(selection.get(), id, order()))
}

export function clearSelection(): void {
  selection.set(NOTHING_SELECTED)
}

export function toggled({ ids }: Selection, id: string): Selection {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return { ids: next, anchor: id }
}

/** With all rows from where the range begins. The beginning stays, so that the next range begins there too. */
export function extended({ ids, anchor }: Selection, id: string, rows: readonly string[]): Selection {
  const [from, to] = [anchor === undefined ? -1 : rows.indexOf(anchor), rows.indexOf(id)]
  if (from === -1 || to === -1) return { ids: new Set([...ids, id]), anchor: id }
  const range = rows.slice(Math.min(from, to), Math.max(from, to) + 1)
  return { ids: new Set([...ids, ...range]), ...(anchor === undefined ? {} : { anchor }) }
}

/** Without those that are not listed any more: nothing is done to a session that nobody sees. */
export function listed(before: Selection, present: ReadonlySet<string>): Selection {
  if ([...before.ids].every((id) => present.has(id))) return before
  return { ...before, ids: new Set([...before.ids].filter((id) => present.has(id))) }
}

interface Refusal {
  readonly id: string
  readonly why: string
}

export interface BulkResult {
  readonly done: readonly string[]
  readonly refused: readonly Refusal[]
}

/** Requests to the hub at the same time. */
const PARALLEL = 4

/** Does something to each session, a few at a time. One that fails stops none of the others. */
export async function inBulk(
  ids: readonly string[],
  act: (id: string) => Promise<unknown>,
  onProgress: (finished: number) => void = () => undefined,
): Promise<BulkResult> {
  const outcomes = new Map<string, string | undefined>()
  const waiting = [...ids]
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      try {
        await act(id)
        outcomes.set(id, undefined)
      } catch (error) {
        outcomes.set(id, error instanceof Error ? error.message : String(error))
      }
      onProgress(outcomes.size)
    }
  }
  await Promise.all(Array.from({ length: Math.min(PARALLEL, ids.length) }, work))
  // In the order of the list, whichever came first.
  return {
    done: ids.filter((id) => outcomes.get(id) === undefined),
    refused: ids.flatMap((id) => {
      const why = outcomes.get(id)
      return why === undefined ? [] : [{ id, why }]
    }),
  }
}
