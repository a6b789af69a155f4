import type { Ask } from "@signalbox/client"
import { textOf } from "@signalbox/protocol"
import { type Row, thinkingLevels, thinkingLevelWords } from "@signalbox/transcript"
import type { Colours } from "../terminal/output.ts"
import { cutCells } from "../terminal/text.ts"
import { type Answering, beginAnswering, stepAnswering } from "./answering.ts"
import { askPanel, type DrawnPanel } from "./ask-panel.ts"
import { composerLines, headerLine, hintLine, type Size, statusLines } from "./frame.ts"
import { edited, type Press } from "./press.ts"
import { rowLines } from "./row-lines.ts"
import type { FeedState, SessionFeed } from "./session-feed.ts"
import { EMPTY, type TextBuffer } from "./text-buffer.ts"
import { type Layout, type Scroll, scrollBy, scrollToTop, TAIL, visible } from "./viewport.ts"

/** A request that just appeared must not be answered by a key meant for something else. */
const ARMING_MS = 400
const MODES = ["default", "acceptEdits", "plan"]

type Focus = "composer" | "ask" | "list"

interface ScreenOptions {
  readonly feed: SessionFeed
  readonly colours: Colours
  readonly redraw: () => void
  readonly leave: () => void
}

interface AskState {
  readonly id: string
  readonly answering: Answering
  readonly from: number
  readonly isSeen: boolean
  readonly armedAt: number
}

interface Choosing {
  readonly names: readonly string[]
  readonly chosen: number
  readonly choose: (index: number) => void
}

/** The state of the screen, and how keys change it. */
export class Screen {
  readonly #options: ScreenOptions
  #focus: Focus = "composer"
  #composer: TextBuffer = EMPTY
  #scroll: Scroll = TAIL
  #ask: AskState | undefined
  /** The open list to choose from: models or thinking levels. */
  #list: Choosing | undefined
  #layout: Layout = { rows: [], linesOf: () => [], height: 0 }
  #laidOut = new WeakMap<Row, readonly string[]>()
  #width = 0

  constructor(options: ScreenOptions) {
    this.#options = options
  }

  draw(state: FeedState, { columns, rows }: Size): readonly string[] {
    const { colours, feed } = this.#options
    const paper = { width: columns, colours }
    this.#follow(state.asks[0])
    const top = [headerLine(state, paper), ...statusLines(state, paper)]
    const panel = this.#panel(state.asks, { columns, rows })
    const isRunning = state.session.state === "running" || state.session.state === "waiting"
    const bottom = [...panel, ...this.#lower({ columns, rows })]
    const height = Math.max(1, rows - top.length - bottom.length - 1)
    this.#lay(feed.transcript.rows(), columns, height)
    const seen = visible(this.#layout, this.#scroll)
    const hint = hintLine(paper, { isRunning, isScrolled: this.#scroll.at === "row", below: seen.below })
    if (seen.isTop && this.#scroll.at === "row" && state.hasEarlier) void feed.loadEarlier()
    const blank = Array.from({ length: height - seen.lines.length }, () => "")
    return [...top, ...seen.lines, ...blank, ...bottom, hint].slice(0, rows)
  }

  press(press: Press): void {
    if (press.key === "ctrl" && press.letter === "c") return this.#options.leave()
    if (!this.#scrolled(press)) this.#handle(press)
    this.#options.redraw()
  }

  #handle(press: Press): void {
    switch (this.#focus) {
      case "ask":
        return this.#pressAsk(press)
      case "list":
        return this.#pressList(press)
      case "composer":
        return this.#pressComposer(press)
    }
  }

  #scrolled(press: Press): boolean {
    const page = Math.max(1, this.#layout.height - 1)
    if (press.key === "page-up") this.#scroll = scrollBy(this.#layout, this.#scroll, -page)
    else if (press.key === "page-down") this.#scroll = scrollBy(this.#layout, this.#scroll, page)
    else if (press.key === "home") this.#scroll = scrollToTop(this.#layout)
    else if (press.key === "end") this.#scroll = TAIL
    else return false
    return true
  }

  #pressComposer(press: Press): void {
    const { feed, leave } = this.#options
    const { session } = feed.state()
    if (press.key === "enter") return void this.#send()
    if (press.key === "escape") {
      if (session.state === "running" || session.state === "waiting") void feed.interrupt()
    } else if (press.key === "tab") {
      if (this.#ask !== undefined) this.#focusAsk()
    } else if (press.key === "back-tab") {
      const next = MODES[(MODES.indexOf(session.permissionMode ?? "default") + 1) % MODES.length]
      if (next !== undefined) void feed.setMode(next)
    } else if (press.key === "ctrl" && press.letter === "o") void this.#openModels()
    else if (press.key === "ctrl" && press.letter === "t") this.#openThinking()
    else if (press.key === "ctrl" && press.letter === "d" && this.#composer.text === "") leave()
    else this.#composer = edited(this.#composer, press) ?? this.#composer
  }

  async #send(): Promise<void> {
    const { text } = this.#composer
    if (text.trim() === "") return
    this.#composer = EMPTY
    const isSent = await this.#options.feed.send(text)
    // A message that could not be sent is restored, unless something else was typed meanwhile.
    if (!isSent && this.#composer.text === "") this.#composer = { text, at: text.length }
    this.#options.redraw()
  }

  #focusAsk(): void {
    this.#focus = "ask"
    if (this.#ask !== undefined) this.#ask = { ...this.#ask, armedAt: Date.now() + ARMING_MS }
  }

  #pressAsk(press: Press): void {
    const state = this.#ask
    const ask = this.#options.feed.state().asks.find(({ id }) => id === state?.id)
    if (state === undefined || ask === undefined) return void (this.#focus = "composer")
    if (press.key === "tab") return void (this.#focus = "composer")
    const isArmed = Date.now() >= state.armedAt
    if (!isArmed && press.key === "text" && state.answering.phase === "choose") return
    const step = stepAnswering(state.answering, press, { ask, isSeen: state.isSeen })
    if (step.isPassed === true) return this.#passed(press, state)
    // An answer is never kept for later: the request may have changed by then.
    if (step.answer !== undefined && this.#options.feed.state().lostAt !== undefined) {
      return this.#options.feed.tell("Hub offline. You can answer when it reconnects.")
    }
    this.#ask = { ...state, answering: step.state, from: step.state.phase === "choose" ? state.from : 0 }
    if (step.answer === undefined) return
    this.#focus = "composer"
    void this.#options.feed.answer(ask, step.answer).then(this.#options.redraw)
  }

  #passed(press: Press, state: AskState): void {
    if (press.key === "escape") this.#focus = "composer"
    if (press.key === "down") this.#ask = { ...state, from: state.from + 1 }
    if (press.key === "up") this.#ask = { ...state, from: Math.max(0, state.from - 1) }
    if (press.key === "text" && !state.isSeen) this.#options.feed.tell("Read to the end to allow (↓)")
  }

  async #openModels(): Promise<void> {
    const { feed, redraw } = this.#options
    const names = await feed.models()
    if (names.length === 0) return feed.tell("The agent lists no models")
    this.#openList({ names, chosen: 0, choose: (index) => void feed.setModel(names[index] ?? "") })
    redraw()
  }

  #openThinking(): void {
    const { feed } = this.#options
    const current = feed.state().session.maxThinkingTokens ?? null
    const levels = thinkingLevels(current)
    this.#openList({
      names: levels.map(thinkingLevelWords),
      chosen: levels.indexOf(current),
      choose: (index) => void feed.setThinking(levels[index] ?? null),
    })
  }

  #openList(list: Choosing): void {
    this.#list = list
    this.#focus = "list"
  }

  #pressList(press: Press): void {
    const list = this.#list
    if (list === undefined) return void (this.#focus = "composer")
    const move = press.key === "down" ? 1 : press.key === "up" ? -1 : 0
    const count = list.names.length
    this.#list = { ...list, chosen: (list.chosen + move + count) % count }
    if (press.key !== "enter" && press.key !== "escape") return
    this.#focus = "composer"
    this.#list = undefined
    if (press.key === "enter") list.choose(list.chosen)
  }

  /** Shows the oldest open ask; another one starts from the beginning. */
  #follow(ask: Ask | undefined): void {
    if (ask === undefined) {
      this.#ask = undefined
      if (this.#focus === "ask") this.#focus = "composer"
    } else if (this.#ask?.id !== ask.id) {
      this.#ask = {
        id: ask.id,
        answering: beginAnswering(ask),
        from: 0,
        isSeen: false,
        armedAt: Date.now() + ARMING_MS,
      }
    }
  }

  #panel(asks: readonly Ask[], { columns, rows }: Size): readonly string[] {
    const [ask] = asks
    const state = this.#ask
    if (ask === undefined || state === undefined) return []
    const height = Math.max(4, Math.floor(rows / 2) - 2)
    const { feed } = this.#options
    const call = feed.transcript.tool(textOf(ask.request, "tool_use_id") ?? "")
    const facts = {
      ask,
      cwd: feed.state().session.cwd,
      plan: textOf(ask.input, "plan") ?? textOf(call?.input, "plan"),
      count: asks.length,
      answering: state.answering,
      isFocused: this.#focus === "ask",
    }
    const drawn: DrawnPanel = askPanel(
      { ...facts, from: state.from, height },
      { width: columns, colours: this.#options.colours },
    )
    const last = Math.max(0, drawn.total - drawn.seen)
    const from = Math.min(state.from, last)
    // Seen once its end was on the screen: nothing that would run is hidden below it.
    this.#ask = { ...state, from, isSeen: state.isSeen || from >= last }
    return drawn.lines
  }

  #lower({ columns }: Size): readonly string[] {
    const { colours } = this.#options
    const list = this.#list
    if (list !== undefined) {
      return list.names.slice(0, 10).map((name, index) => {
        const line = cutCells(`${index === list.chosen ? "❯" : " "} ${name}`, columns)
        return index === list.chosen ? colours.bold(line) : line
      })
    }
    return composerLines(this.#composer, { width: columns, colours }, this.#focus === "composer")
  }

  /** Rows are laid out when they come into view, and again only if they change. */
  #lay(rows: readonly Row[], width: number, height: number): void {
    if (width !== this.#width) this.#laidOut = new WeakMap()
    this.#width = width
    const { colours, feed } = this.#options
    const drawing = { width, colours, laneOf: (id: string) => feed.transcript.rows(id) }
    const linesOf = (row: Row): readonly string[] => {
      // A sub-agent's progress changes without its row changing.
      if (row.kind === "tool" && row.hasLane) return rowLines(row, drawing)
      const lines = this.#laidOut.get(row) ?? rowLines(row, drawing)
      this.#laidOut.set(row, lines)
      return lines
    }
    this.#layout = { rows, linesOf, height }
  }
}
