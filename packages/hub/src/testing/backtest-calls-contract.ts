import type { Policy, Rule } from "@signalbox/policy"
import type { Backtest } from "@signalbox/protocol/hub-api"
import { describe, expect, it } from "vitest"
import { resultOf } from "../policy-tests.ts"
import type { BacktestStep } from "../store/backtest.ts"
import type { Store } from "../store/open-store.ts"
import { allow, EMPTY, policyOf, record, START, see, test } from "./past-requests.ts"
import { keptSession } from "./records.ts"
import type { WithStore } from "./store-setup.ts"

const ALL_DENIED = policyOf({ id: "none", effect: "deny" })
const stop = (effect: "deny" | "ask", command: string): Rule => ({ ...allow(`${effect}-${command}`, command), effect })
const textsIn = ({ examples }: Backtest["contradicts"]) => examples.map(({ text }) => text)
const minute = (number: number) => new Date(START + number * 60_000).toISOString()

export function describeCallBacktestContract(name: string, withStore: WithStore): void {
  describe(`backtest of tool calls that nobody was asked about: ${name}`, () => {
    it("[BT16] they are judged among the requests, newest first, and told by their event", () =>
      withStore(async (store) => {
        await record(store, [{ command: "ask at 0" }, { command: "ask at 1" }, { command: "ask at 2" }])
        await see(store, { command: "call at 1", minute: 1, toolUseId: "a" })
        await see(store, { command: "call at 3", minute: 3, toolUseId: "b" })
        await see(store, { command: "second call at 1", minute: 1, toolUseId: "c" })
        const result = await test(store, { proposed: ALL_DENIED })
        expect(result).toMatchObject({ requests: 6, notTestable: 0, since: minute(0), complete: true })
        expect(textsIn(result.newlyDenied)).toEqual([
          "call at 3",
          "ask at 2",
          "ask at 1",
          "second call at 1",
          "call at 1",
          "ask at 0",
        ])
        expect(result.newlyDenied.examples[0]).toEqual({
          session: "s",
          seq: 5,
          at: minute(3),
          tool: "Bash",
          text: "call at 3",
          was: "allow",
          would: "deny",
          rule: "none",
        })
        const since = await test(store, { proposed: ALL_DENIED, since: minute(1) })
        expect(since).toMatchObject({ requests: 5, since: minute(1) })
        expect(await test(store, { proposed: ALL_DENIED, since: minute(4) })).toMatchObject({
          requests: 0,
          since: null,
        })
      }))

    it("[BT16] a call that became a request counts once, as that request; one of another session with its id is another", () =>
      withStore(async (store) => {
        await record(store, [{ command: "asked", change: { toolUseId: "t1" } }, { command: "no call" }])
        await see(store, { command: "asked", toolUseId: "t1", effect: "ask", rule: "r" })
        await see(store, { command: "elsewhere", toolUseId: "t1", sessionId: "other" })
        const { requests, newlyDenied } = await test(store, { proposed: ALL_DENIED })
        expect(requests).toBe(3)
        expect(newlyDenied.examples.map(({ ask, text }) => [ask, text])).toEqual([
          ["ask1", "no call"],
          ["ask0", "asked"],
          [undefined, "elsewhere"],
        ])
      }))

    it("[BT16] many calls of the same moment are each read once, and progress counts them", () =>
      withStore(async (store) => {
        const calls = 1_200
        await Promise.all(Array.from({ length: calls }, (_, n) => see(store, { toolUseId: `t${n}`, input: { n } })))
        await record(store, [{}, {}])
        const job = { kind: "test", inForce: EMPTY, proposed: ALL_DENIED, maxExamples: 200 } as const
        const steps: BacktestStep<Backtest>[] = []
        for await (const step of store.backtests.run(job)) steps.push(step)
        expect(steps[0]).toEqual({ progress: { judged: 0, total: calls + 2 } })
        expect(steps.at(-1)).toMatchObject({ result: { requests: calls + 2, newlyDenied: { count: calls + 2 } } })
        expect(await test(store, { proposed: EMPTY, since: minute(1) })).toMatchObject({ requests: 1 })
      }))

    it("[BT16] a store knows its own calls alone, and those of archived sessions too", () =>
      withStore((one) =>
        withStore(async (other) => {
          await one.directory.saveSession(keptSession("s", { archived: true, state: "ended" }))
          await see(one, { command: "one's" })
          await see(other, { command: "the other's" })
          const results = await Promise.all([one, other].map((store) => test(store, { proposed: ALL_DENIED })))
          expect(results.map(({ newlyDenied }) => textsIn(newlyDenied))).toEqual([["one's"], ["the other's"]])
        }),
      ))

    it("[BT17] deny and ask rules alone count, as they do before a call runs", () =>
      withStore(async (store) => {
        for (const command of ["rm x", "make", "npm test", "cat $(x"]) await see(store, { command })
        const rules = [allow("tests", "npm *"), stop("deny", "rm *"), stop("ask", "make")]
        const result = await test(store, { proposed: policyOf(...rules) })
        expect(result.requests).toBe(4)
        expect(result.newlyDenied).toMatchObject({ count: 1, examples: [{ text: "rm x", rule: "deny-rm *" }] })
        expect(result.newlyAsked).toMatchObject({
          count: 2,
          examples: [
            { text: "cat $(x", was: "allow", would: "ask" },
            { text: "make", rule: "ask-make" },
          ],
        })
        expect([result.noLongerAsked.count, result.contradicts.count]).toEqual([0, 0])
        const allowed = await test(store, { proposed: policyOf({ id: "all", effect: "allow" }) })
        expect([allowed.newlyAsked, allowed.newlyDenied, allowed.noLongerAsked].map(({ count }) => count)).toEqual([
          0, 0, 0,
        ])
      }))

    it("[BT17] a call that a rule stops and that would run is listed with what is no longer asked, and contradicts nobody", () =>
      withStore(async (store) => {
        await see(store, { command: "rm x", minute: 1, effect: "deny", rule: "deny-rm *" })
        await see(store, { command: "make", minute: 2, effect: "ask", rule: "ask-make" })
        const inForce = policyOf(stop("deny", "rm *"), stop("ask", "make"))
        const result = await test(store, { inForce, proposed: EMPTY })
        expect(result.noLongerAsked).toMatchObject({
          count: 2,
          examples: [
            { text: "make", was: "ask", would: "allow", rule: null },
            { text: "rm x", was: "deny", would: "allow", rule: null },
          ],
        })
        expect(result.contradicts.count).toBe(0)
        const denied = { kind: "denied", inForce, proposed: EMPTY, maxExamples: 5 } as const
        expect(await resultOf(store.backtests.run(denied))).toMatchObject({ requests: 0, contradicts: { count: 0 } })
        const asked = await test(store, { inForce, proposed: policyOf(stop("ask", "*")) })
        expect(asked.newlyAsked).toMatchObject({ count: 1, examples: [{ text: "rm x", was: "deny" }] })
      }))

    it("[BT17] a few changed rules among many give the same lists as all of them", () =>
      withStore(async (store) => {
        for (const command of [
          "rm x",
          "npm ci && rm x",
          "sudo rm x",
          'bash -c "rm x"',
          "git x",
          "echo rm",
          "$X",
          "cat $(x",
        ]) {
          await see(store, { command })
          await see(store, { toolUseId: `outside ${command}`, said: { command, dangerouslyDisableSandbox: true } })
        }
        const first = stop("ask", "tool *")
        const many = [first, ...Array.from({ length: 20 }, (_, n) => stop("ask", `tool${n} *`))]
        const rules = [stop("deny", "rm *"), stop("ask", "git *"), allow("npm", "npm *")]
        const few = await test(store, { inForce: policyOf(...many), proposed: policyOf(...many, ...rules) })
        // With nothing in common, both are asked about everything.
        const changed = { ...first, reason: "changed" }
        expect(few).toEqual(await test(store, { inForce: policyOf(first), proposed: policyOf(changed, ...rules) }))
        expect([few.newlyDenied.count, few.newlyAsked.count]).toEqual([8, 1])
      }))

    it("[BT18] a call is judged in its session's folder and in the one that the agent had gone to, in its mode, at its time", () =>
      withStore(async (store) => {
        const place = { cwd: "/srv/app", permissionMode: "plan", runner: "mac" }
        await store.directory.saveSession(keptSession("s", place))
        const [home, gone] = [minute(1), minute(2)]
        const cases: [Omit<Rule, "id" | "effect">, denied: string[]][] = [
          [{ input: { file_path: "/srv/app/*" } }, [gone, home]],
          [{ input: { file_path: "/srv/keys/*" } }, [gone]],
          [{ cwd: "/srv/keys" }, [gone]],
          [{ mode: "plan" }, [home]],
          [{ mode: "acceptEdits" }, [gone]],
          [{ runner: "mac", until: gone }, [home]],
          [{ runner: "pc" }, []],
        ]
        for (const n of cases.keys()) {
          const call = { tool: `T${n}`, said: { file_path: "key" } }
          await see(store, { ...call, toolUseId: `home ${n}`, minute: 1 })
          await see(store, { ...call, toolUseId: `gone ${n}`, minute: 2, cwd: "/srv/keys", mode: "acceptEdits" })
        }
        const rules = cases.map(([rule], n): Rule => ({ id: `r${n}`, effect: "deny", tool: `T${n}`, ...rule }))
        const { newlyDenied } = await test(store, { proposed: policyOf(...rules), maxExamples: 50 })
        const deniedAt = (n: number) => newlyDenied.examples.filter(({ tool }) => tool === `T${n}`).map(({ at }) => at)
        expect(cases.map((_, n) => deniedAt(n))).toEqual(cases.map(([, denied]) => denied))
      }))

    it("[BT18] [BT3] its input is that of its event, or what a program's hook put in its place; without one it is counted, not judged", () =>
      withStore(async (store) => {
        await see(store, { command: "made up", input: { command: "from a hook" } })
        await see(store, { toolUseId: "purged", seq: 99 })
        await see(store, { toolUseId: "of another session", sessionId: "s2", seq: 1 })
        await see(store, { toolUseId: "never had one", seq: null })
        await see(store, { toolUseId: "too long", said: { command: "x".repeat(5 * 1024 * 1024) } })
        await see(store, { toolUseId: "long", said: { command: "y".repeat(100_000) } })
        const { requests, notTestable, newlyDenied } = await test(store, { proposed: ALL_DENIED })
        expect({ requests, notTestable }).toEqual({ requests: 3, notTestable: 3 })
        expect(newlyDenied.examples.map(({ seq, text }) => [seq, text])).toEqual([
          [expect.any(Number), "y".repeat(200)],
          [1, "ls"],
          [0, "from a hook"],
        ])
      }))
  })

  describe(`suggestions from tool calls that nobody was asked about: ${name}`, () => {
    const suggest = (store: Store, inForce: Policy) =>
      resultOf(store.backtests.run({ kind: "suggest", inForce, since: "2029-01-01T00:00:00.000Z" }))

    it("[BT12] a call that a rule stops is a decision of that rule; a rule that allows decides none", () =>
      withStore(async (store) => {
        await see(store, { command: "rm x", minute: 1, effect: "deny" })
        await see(store, { command: "rm y", minute: 2, effect: "deny" })
        await see(store, { command: "npm test", minute: 3 })
        const inForce = policyOf(stop("deny", "rm *"), stop("ask", "make"), allow("tests", "npm test"))
        const { decided, idle, requests } = await suggest(store, inForce)
        expect(requests).toBe(3)
        expect(decided).toEqual([{ rule: "deny-rm *", count: 2, lastAt: minute(2) }])
        expect(idle).toEqual([
          { rule: "ask-make", why: "unused" },
          { rule: "tests", why: "unused" },
        ])
      }))

    it("[BT10] they are no evidence that people allow something, and no part of a proposed rule's test", () =>
      withStore(async (store) => {
        for (let n = 0; n < 9; n++) {
          await see(store, { command: "npm test", toolUseId: `t${n}` })
          await see(store, { command: "make", toolUseId: `m${n}` })
        }
        await record(
          store,
          Array.from({ length: 5 }, () => ({ command: "npm test", answer: "allowed" as const })),
        )
        const { suggestions, requests } = await suggest(store, EMPTY)
        expect(requests).toBe(23)
        expect(suggestions).toMatchObject([
          { rule: { id: "allow-bash-npm-test" }, allowed: 5, test: { requests: 5, noLongerAsked: { count: 5 } } },
        ])
      }))
  })
}
