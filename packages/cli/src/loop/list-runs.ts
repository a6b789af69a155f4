import { existsSync } from "node:fs"
import type { Hub, Run } from "@signalbox/client"
import { costWords, sumUsd } from "@signalbox/protocol"
import { type CommandContext, dataDirectory, nextCommand } from "../base/context.ts"
import { withHub } from "../hub/connect.ts"
import { type Colours, printJson } from "../terminal/output.ts"
import { type Column, printTable } from "../terminal/table.ts"
import { ago, onOneLine } from "../terminal/text.ts"
import { hasHub, openOwnHub } from "../up/hub-here.ts"
import type { LoopOptions } from "./run-record.ts"
import { SHORT_ID } from "./run-view.ts"

const LIMIT = 100

/** Lists the runs that the hub recorded. Without a running hub, one is started to read them. */
export async function listRuns(options: LoopOptions, context: CommandContext): Promise<void> {
  // Nothing was ever run here, and looking leaves no trace.
  if (!hasHub(options, context) && !existsSync(dataDirectory(options, context.env).path))
    return show({ runs: [], more: false }, options, context)
  const own = hasHub(options, context) ? undefined : await openOwnHub(options, context, { hasRunner: false })
  try {
    const found = await withHub(options, context, (hub: Hub) => hub.runs.list({ limit: LIMIT }))
    await show(found, options, context)
  } finally {
    await own?.close()
  }
}

async function show(
  { runs, more }: { readonly runs: readonly Run[]; readonly more: boolean },
  options: LoopOptions,
  context: CommandContext,
): Promise<void> {
  if (options.json === true) return printJson(context, { runs, more })
  const next = (words: string) => nextCommand(words, options, context.env)
  if (runs.length === 0) return void context.stderr.write(`No runs. Start one: ${next("loop TASKS.md")}\n`)
  await printTable(context, runs, (colours) => columnsFor(colours, Date.now()))
  if (more) context.stderr.write(`Only the newest ${LIMIT} are shown.\n`)
  const open = runs.find(({ state }) => state === "stopped" || state === "running")
  if (open !== undefined && context.stderr.isTTY)
    context.stderr.write(`Resume a stopped run: ${next(`loop --resume ${open.id.slice(0, SHORT_ID)}`)}\n`)
}

function columnsFor(colours: Colours, nowMs: number): Column<Run>[] {
  const paints = { running: colours.cyan, done: colours.green, failed: colours.red, stopped: colours.yellow }
  return [
    { title: "RUN", text: ({ id }) => id.slice(0, SHORT_ID), paint: colours.bold },
    { title: "STATE", text: ({ state }) => state, paint: (text, { state }) => paints[state](text) },
    { title: "DONE", text: (run) => `${count(run, "done")} of ${run.tasks.length}`, isRight: true },
    { title: "FAILED", text: (run) => String(count(run, "failed") || ""), isRight: true, paint: colours.red },
    { title: "COST", text: costText, isRight: true },
    { title: "WHAT", text: describe, isWide: true },
    { title: "AGE", text: ({ updatedAt }) => ago(updatedAt, nowMs), isRight: true, paint: colours.dim },
  ]
}

function count({ tasks }: Run, state: "done" | "failed"): number {
  return tasks.filter((task) => task.state === state).length
}

function costText({ tasks }: Run): string {
  const cost = sumUsd(...tasks.map(({ costUsd = 0 }) => costUsd))
  return cost === 0 ? "" : costWords(cost)
}

function describe({ title, note = "" }: Run): string {
  return onOneLine(note === "" ? title : `${title}: ${note}`)
}
