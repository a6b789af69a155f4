import { createHash } from "node:crypto"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { TranscriptEvent } from "../src/index.ts"
import { markdown } from "../src/page/markup.ts"
import { type PageSession, transcriptPage } from "../src/page/page.ts"
import { STYLE, STYLE_HASH } from "../src/page/style.ts"

const session: PageSession = {
  id: "s1",
  title: "<script>alert(1)</script>",
  cwd: "/p",
  model: "opus",
  cliVersion: "2.1.325",
  createdAt: "2026-01-01T00:00:00.000Z",
  turns: 1,
  costUsd: 0.5,
  tokens: { input: 1, output: 1, cacheRead: 0 },
}

const HOSTILE = `<img src=x onerror=alert(1)>"'><script>x</script>&amp;\u202e\u001b[2J[a](javascript:alert(1)) ![i](http://x/y.png)`

/** The same hostile text wherever an agent, a tool or a person could put one. */
function hostileEvents(): readonly TranscriptEvent[] {
  const assistant = (block: Record<string, unknown>, extra = {}) => ({
    type: "assistant",
    message: { id: HOSTILE, content: [block] },
    ...extra,
  })
  const messages: TranscriptEvent["message"][] = [
    { type: "user", isReplay: true, uuid: HOSTILE, message: { content: HOSTILE } },
    { type: "system", subtype: "init", model: HOSTILE, cwd: HOSTILE },
    assistant({
      type: "text",
      text: `# ${HOSTILE}\n\n- ${HOSTILE}\n\n|${HOSTILE}|b|\n|-|-|\n|${HOSTILE}|\n\n\`\`\`${HOSTILE}\n${HOSTILE}`,
    }),
    assistant({ type: "thinking", thinking: HOSTILE }),
    assistant({ type: "image", source: { media_type: `image/png" onload="x`, data: HOSTILE } }),
    assistant({ type: "image", source: { media_type: "image/svg+xml", data: "PHN2Zy8+" } }),
    assistant({ type: "text", text: HOSTILE }, { error: HOSTILE }),
    ...["Bash", "Edit", "Write", "Task", "TodoWrite", "AskUserQuestion", "ExitPlanMode", HOSTILE].flatMap(
      (name, index) => [
        assistant({
          type: "tool_use",
          id: `${HOSTILE}${index}`,
          name,
          input: {
            command: HOSTILE,
            file_path: HOSTILE,
            old_string: HOSTILE,
            new_string: `${HOSTILE}!`,
            content: HOSTILE,
            prompt: HOSTILE,
            plan: HOSTILE,
            todos: [{ content: HOSTILE, status: HOSTILE }],
            questions: [{ question: HOSTILE, options: [{ label: HOSTILE }] }],
          },
        }),
        {
          type: "user",
          message: {
            content: [
              { type: "tool_result", tool_use_id: `${HOSTILE}${index}`, content: HOSTILE, is_error: index % 2 === 0 },
            ],
          },
        },
      ],
    ),
    { type: "system", subtype: "informational", content: HOSTILE },
    { type: HOSTILE, anything: HOSTILE },
    { type: "result", subtype: HOSTILE, errors: [HOSTILE], result: HOSTILE, is_error: true },
  ]
  return messages.map((message, index) => ({ seq: index + 1, at: HOSTILE, from: "agent", message }))
}

async function* each(events: readonly TranscriptEvent[]): AsyncGenerator<TranscriptEvent> {
  yield* events
}

async function pageOf(events: readonly TranscriptEvent[]): Promise<string> {
  const writtenAt = "2026-01-02T00:00:00.000Z"
  const pieces: string[] = []
  for await (const piece of transcriptPage({ session, events: each(events), asks: async () => [], writtenAt }))
    pieces.push(piece)
  return pieces.join("")
}

const TAGS =
  /<\/?(?:!doctype html|html|head|meta|title|style|body|header|main|nav|footer|h[1-5]|dl|dt|dd|p|ul|ol|li|pre|code|strong|em|del|blockquote|hr|br|a|span|div|section|details|summary|time|img|table|thead|tbody|tr|th|td)(?: [a-z-]+(?:="[^"<>]*")?)*>/g

describe("an exported page", () => {
  it("[EX1] has no script and no attribute that anybody but us wrote, whatever the session says", async () => {
    const page = await pageOf(hostileEvents())
    const style = /<style>([^]*?)<\/style>/.exec(page)?.[1] ?? ""
    const rest = page.replace(style, "").replaceAll(TAGS, "")
    expect(rest).not.toMatch(/[<>]/)
    const tags = page.replace(style, "").match(TAGS) ?? []
    expect(tags.length).toBeGreaterThan(100)
    expect(tags.filter((tag) => /\son|javascript:|<script|<iframe|src="(?!data:)/i.test(tag))).toEqual([])
    expect(["\u202e", "\u001b"].filter((hidden) => page.includes(hidden))).toEqual([])
  })

  it("[EX1] allows nothing but its own style and the pictures in it, by a policy of its own", async () => {
    const page = await pageOf([])
    expect(createHash("sha256").update(STYLE).digest("base64")).toBe(STYLE_HASH)
    expect(page).toMatch(
      /http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;sha256-[^;]+&#39;; img-src data:;/,
    )
    expect(page.indexOf("Content-Security-Policy")).toBeLessThan(page.indexOf("<style>"))
  })

  it("[EX2] tools are closed, an edit shows its lines, a failure shows why", async () => {
    const input = { file_path: "a.ts", old_string: "one", new_string: "two" }
    const block = { type: "tool_use", id: "t1", name: "Edit", input }
    const failed = { type: "tool_use", id: "t2", name: "Bash", input: { command: "npm test" } }
    const messages = [
      { type: "assistant", message: { id: "m", content: [block, failed] } },
      { type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t1", content: "ok" }] } },
      {
        type: "user",
        message: {
          content: [{ type: "tool_result", tool_use_id: "t2", content: "1 test\nError: boom", is_error: true }],
        },
      },
    ]
    const page = await pageOf(
      messages.map((message, index) => ({ seq: index + 1, at: "2026-01-01T00:00:00.000Z", from: "agent", message })),
    )
    expect(page).toMatch(
      /<details class="row tool" id="e1"><summary><span class="verb">Edit<\/span><span class="target">a\.ts/,
    )
    expect(page).toContain(`<span class="del">- one</span><span class="add">+ two</span>`)
    expect(page).toContain(`<p class="errline">Error: boom</p>`)
    expect(page).not.toContain("<details open")
  })

  it("[EX2] what agents write in Markdown is shown as such, and any text at all makes sound markup", () => {
    const text =
      "# Title\n\nSome **bold** and `code`.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> said\n\n```ts\nconst x = 1 < 2\n"
    const markup = markdown(text)
      .map(({ html }) => html)
      .join("")
    expect(markup).toContain("<h3>Title</h3><p>Some <strong>bold</strong> and <code>code</code>.</p><ul><li")
    expect(markup).toContain("<td>1</td><td>2</td>")
    expect(markup).toContain("<blockquote><p>said</p></blockquote>")
    expect(markup).toContain("const x = 1 &lt; 2")
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom("*", "`", "#", "|", "-", "\n", "[", "](", ")", ">", "<", "http://x", " ", "a", "1."),
        }),
        (any) => {
          const made = markdown(any)
            .map(({ html }) => html)
            .join("")
          expect(made.replaceAll(TAGS, "")).not.toMatch(/[<>]/)
        },
      ),
      { numRuns: 2000 },
    )
  })
})
