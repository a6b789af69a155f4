import type { KeptMessages, TranscriptEntry } from "./transcript.ts"

// A transcript is a tree: going back in a conversation leaves a branch behind. Which branch is the conversation, and what
// belongs to it without being on it, was observed of the official SDK and is told in docs/spec/sdk-sessions.md.

interface Tree {
  readonly entries: ReadonlyMap<string, TranscriptEntry>
  readonly parents: Map<string, string | undefined>
  /** Progress lines are linked like messages and are none: whoever hangs on one hangs on what it hangs on. */
  readonly progress: Map<string, string | undefined>
}

/** The entries of the conversation from its beginning (or the last compaction) to its latest message. */
export function conversationOf(all: readonly TranscriptEntry[]): TranscriptEntry[] {
  // Whichever kind the later of two lines with one uuid is: a message that became a progress line is none.
  const latestLines = [...new Map(all.map((entry) => [entry.uuid, entry])).values()]
  const tree = treeOf(latestLines.filter(({ type }) => type !== "progress"))
  for (const { uuid, type, parentUuid } of latestLines) if (type === "progress") tree.progress.set(uuid, parentUuid)
  for (const { kept } of tree.entries.values()) if (kept !== undefined) relink(kept, tree)
  const latest = latestMessage(tree)
  return latest === undefined ? [] : withParallelCalls([...upwards(latest, tree)].toReversed(), tree)
}

/** A subagent's conversation: the chain to its last message, with nothing beside it. */
export function subagentConversationOf(all: readonly TranscriptEntry[]): TranscriptEntry[] {
  const linked = all.filter(({ type }) => isMessage(type) || type === "attachment")
  const latest = linked.findLast(({ type }) => isMessage(type))
  return latest === undefined ? [] : [...upwards(latest, treeOf(linked))].toReversed()
}

export function isMessage(type: string): boolean {
  return type === "user" || type === "assistant"
}

function treeOf(linked: readonly TranscriptEntry[]): Tree {
  // The later of two lines with one uuid counts, in the place of the earlier.
  const entries = new Map(linked.map((entry) => [entry.uuid, entry]))
  const parents = new Map([...entries.values()].map(({ uuid, parentUuid }) => [uuid, parentUuid]))
  return { entries, parents, progress: new Map() }
}

function parentOf(uuid: string, { parents, progress }: Tree): string | undefined {
  return beyondProgress(parents.get(uuid), progress)
}

/** The nearest entry from here upwards that is no progress line. */
export function beyondProgress(
  from: string | undefined,
  progress: ReadonlyMap<string, string | undefined>,
): string | undefined {
  const seen = new Set<string>()
  let at = from
  while (at !== undefined && progress.has(at) && !seen.has(at)) {
    seen.add(at)
    at = progress.get(at)
  }
  return at
}

/** Puts what a compaction kept between its summary and what follows it. */
function relink(kept: KeptMessages, { entries, parents, progress }: Tree): void {
  const uuids = kept.kind === "list" ? kept.uuids : [kept.head]
  const [head, tail] = kept.kind === "list" ? [uuids[0], uuids.at(-1)] : [kept.head, kept.tail]
  if (head === undefined || tail === undefined) return
  if (kept.kind === "list" && !uuids.every((uuid) => entries.has(uuid))) return
  for (const links of [parents, progress])
    for (const [uuid, parent] of links) if (parent === kept.anchor && uuid !== head) links.set(uuid, tail)
  let before = kept.anchor
  for (const uuid of uuids) {
    if (entries.has(uuid)) parents.set(uuid, before)
    before = uuid
  }
}

/** The message that the last branch in the file ends with; those of subagents and teammates count if there are no others. */
function latestMessage(tree: Tree): TranscriptEntry | undefined {
  const all = [...tree.entries.values()]
  const main = all.filter(({ isSidechain, isTeammate }) => !isSidechain && !isTeammate)
  return lastEndIn(main, tree) ?? lastEndIn(all, tree)
}

function lastEndIn(among: readonly TranscriptEntry[], tree: Tree): TranscriptEntry | undefined {
  const continued = new Set(among.map(({ uuid }) => parentOf(uuid, tree)))
  for (const end of among.toReversed()) {
    const message = continued.has(end.uuid) ? undefined : nearestMessage(end, tree)
    if (message !== undefined) return message
  }
  return undefined
}

function nearestMessage(from: TranscriptEntry, tree: Tree): TranscriptEntry | undefined {
  for (const entry of upwards(from, tree)) if (isMessage(entry.type)) return entry
  return undefined
}

function* upwards(from: TranscriptEntry, tree: Tree): Generator<TranscriptEntry> {
  const seen = new Set<string>()
  for (let at: TranscriptEntry | undefined = from; at !== undefined && !seen.has(at.uuid); ) {
    seen.add(at.uuid)
    yield at
    const parent = parentOf(at.uuid, tree)
    at = parent === undefined ? undefined : tree.entries.get(parent)
  }
}

/**
 * Only one result is on the chain when several tools were called at once. The other blocks of the same API message and
 * the other results are put behind the last block of that message which is on the chain.
 */
function withParallelCalls(chain: readonly TranscriptEntry[], tree: Tree): TranscriptEntry[] {
  const lastBlock = new Map<string, TranscriptEntry>()
  for (const entry of chain) if (entry.messageId !== undefined) lastBlock.set(entry.messageId, entry)
  const answered = new Set(chain.flatMap(({ toolResults }) => toolResults))
  const index = indexOf([...tree.entries.values()], tree)
  const placed = new Set(chain)
  const behind = new Map<TranscriptEntry, TranscriptEntry[]>()
  for (const [messageId, last] of lastBlock) {
    const blocks = index.blocks.get(messageId) ?? []
    const results = resultsOf(blocks, index, answered)
    const missing = [...blocks.toSorted(byTime), ...results.toSorted(byTime)].filter(
      (entry) => !placed.has(entry) && !entry.isSidechain,
    )
    for (const entry of missing) placed.add(entry)
    behind.set(last, missing)
  }
  return chain.flatMap((entry) => [entry, ...(behind.get(entry) ?? [])])
}

interface Index {
  readonly blocks: ReadonlyMap<string, readonly TranscriptEntry[]>
  readonly resultsUnder: ReadonlyMap<string, readonly TranscriptEntry[]>
  readonly resultsFor: ReadonlyMap<string, readonly TranscriptEntry[]>
}

function indexOf(entries: readonly TranscriptEntry[], { parents }: Tree): Index {
  const index = { blocks: new Map(), resultsUnder: new Map(), resultsFor: new Map() }
  const put = (map: Map<string, TranscriptEntry[]>, key: string, entry: TranscriptEntry) => {
    const there = map.get(key)
    if (there === undefined) map.set(key, [entry])
    else there.push(entry)
  }
  for (const entry of entries) {
    if (entry.messageId !== undefined) put(index.blocks, entry.messageId, entry)
    const parent = parents.get(entry.uuid)
    // A result that hangs on nothing is what a cut transcript begins with, and belongs to nothing in it.
    if (entry.toolResults.length === 0 || parent === undefined) continue
    put(index.resultsUnder, parent, entry)
    if (!entry.isSidechain) for (const call of entry.toolResults) put(index.resultsFor, call, entry)
  }
  return index
}

/** The results of one API message's calls: what hangs on its blocks, and the first to answer a call that none of them does. */
function resultsOf(blocks: readonly TranscriptEntry[], index: Index, onChain: ReadonlySet<string>): TranscriptEntry[] {
  const under = blocks.flatMap(({ uuid }) => index.resultsUnder.get(uuid) ?? [])
  const answered = new Set(under.flatMap(({ toolResults }) => toolResults))
  const open = blocks
    .filter(({ isSidechain }) => !isSidechain)
    .flatMap(({ toolUses }) => toolUses)
    .filter((call) => !answered.has(call) && !onChain.has(call))
  return [...new Set([...under, ...open.flatMap((call) => index.resultsFor.get(call)?.[0] ?? [])])]
}

function byTime(a: TranscriptEntry, b: TranscriptEntry): number {
  return a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0
}

type Phase = "none" | "announced" | "running"

/**
 * The messages that tell of a command the CLI carried out itself, such as `/compact`: it announces them by a caveat for
 * the model, then comes the command, then its output. A prompt or an answer ends them.
 */
export function localCommandsIn(conversation: readonly TranscriptEntry[]): ReadonlySet<TranscriptEntry> {
  const found = new Set<TranscriptEntry>()
  let phase: Phase = "none"
  for (const entry of conversation) {
    if (!isMessage(entry.type)) continue
    phase = next(phase, entry)
    if (phase === "running" && !entry.isMeta) found.add(entry)
  }
  return found
}

function next(phase: Phase, { isMeta, opening }: TranscriptEntry): Phase {
  if (isMeta) return opening === "caveat" ? "announced" : phase
  if (phase === "announced" && opening === "command") return "running"
  return phase === "running" && opening === "output" ? "running" : "none"
}
