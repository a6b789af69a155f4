import { useEffect, useMemo, useState } from "react"
import { whileOpen } from "../../app/value-store.ts"
import type { LineColours } from "./code-tones.ts"

/** The colours of a text's lines; undefined while or where there are none. */
type Colours = readonly LineColours[] | undefined

/** Longer texts are read, not looked at. */
const MAX_CHARS = 400_000
/** A text that takes longer has no colours: whatever is behind it in the queue goes on with another worker. */
const MAX_MS = 3_000
/** Those that were asked for longest ago are given up first. */
const MAX_WAITING = 100
const MAX_KEPT = 60
/** After a worker that could not be loaded: the hub may be away. */
const RETRY_MS = 10_000

interface Job {
  readonly id: number
  readonly text: string
  readonly language: string
  readonly done: (colours: Colours) => void
}

let worker: Worker | undefined
let brokenUntil = 0
let lastId = 0
let current: { readonly job: Job; readonly timer: ReturnType<typeof setTimeout> } | undefined
const waiting: Job[] = []
const kept = new Map<string, Colours>()

/** Colours of a text in a language, found beside the page. Every answer comes, if only to say that there are none. */
function coloursOf(text: string, language: string): Promise<Colours> {
  if (text.length > MAX_CHARS || Date.now() < brokenUntil) return Promise.resolve(undefined)
  return new Promise((done) => {
    waiting.push({ id: ++lastId, text, language, done })
    if (waiting.length > MAX_WAITING) waiting.shift()?.done(undefined)
    next()
  })
}

function next(): void {
  const job = current === undefined ? waiting.shift() : undefined
  if (job === undefined) return
  try {
    worker ??= started()
    const { id, text, language } = job
    current = { job, timer: setTimeout(replaceWorker, MAX_MS) }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin to name
    worker.postMessage({ id, text, language })
  } catch {
    replaceWorker()
    job.done(undefined)
  }
}

function started(): Worker {
  const made = new Worker(new URL("./colour-worker.ts", import.meta.url), { type: "module" })
  made.addEventListener("message", ({ data }: MessageEvent<{ id: number; lines: Colours }>) => {
    if (data.id === current?.job.id) settle(data.lines)
  })
  made.addEventListener("error", () => {
    if (made !== worker) return
    brokenUntil = Date.now() + RETRY_MS
    for (const job of waiting.splice(0)) job.done(undefined)
    replaceWorker()
  })
  return made
}

function replaceWorker(): void {
  worker?.terminate()
  worker = undefined
  settle(undefined)
}

function settle(colours: Colours): void {
  const settled = current
  current = undefined
  clearTimeout(settled?.timer)
  settled?.job.done(colours)
  next()
}

/** The colours of a text, once they are found: until then it is shown without. An empty text or language has none. */
export function useColours(text: string, language: string): Colours {
  const key = useMemo(() => `${language}\n${text}`, [text, language])
  const [found, setFound] = useState<{ readonly of: string; readonly colours: Colours } | undefined>(undefined)
  useEffect(() => {
    if (text === "" || language === "" || kept.has(key)) return undefined
    return whileOpen(
      coloursOf(text, language).then((colours) => keep(key, colours)),
      (colours) => setFound({ of: key, colours }),
    )
  }, [text, language, key])
  return found?.of === key ? found.colours : kept.get(key)
}

/** Rows come and go with scrolling: the last few texts are not asked about again. */
function keep(key: string, colours: Colours): Colours {
  if (colours !== undefined) kept.set(key, colours)
  const [oldest] = kept.keys()
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  return colours
}

/** `ts` of `src/a.ts`, `dockerfile` of `Dockerfile`; of a fence's words the first. */
export function languageOf(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)
  return name.slice(name.lastIndexOf(".") + 1).toLowerCase()
}
