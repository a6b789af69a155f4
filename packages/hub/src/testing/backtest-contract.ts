import type { Policy, Rule } from "@signalbox/policy"
import type { Backtest } from "@signalbox/protocol/hub-api"
import { describe, expect, it } from "vitest"
import { resultOf } from "../policy-tests.ts"
import type { BacktestStep } from "../store/backtest.ts"
import type { Store } from "../store/open-store.ts"
import { describeCallBacktestContract } from "./backtest-calls-contract.ts"
import { allow, EMPTY, type Past, policyOf, record, START, test } from "./past-requests.ts"
import { type StoreSetup, withStoreOf } from "./store-setup.ts"

function asksIn({ examples }: Backtest["contradicts"]): (string | undefined)[] {
  return examples.map(({ ask }) => ask)
}

/** The rules of docs/spec/backtest.md that depend on how requests are kept, for every store. */
export function describeBacktestContract(name: string, open: () => Promise<StoreSetup>): void {
  const withStore = withStoreOf(open)

  describeCallBacktestContract(name, withStore)

  describe(`backtest contract: ${name}`, () => {
    it("[BT1] every recorded request is judged by both policies; what would be different is listed, newest first", () =>
      withStore(async (store) => {
        await record(store, [
          { command: "npm test", answer: "allowed" },
          { command: "git push", answer: "denied" },
          { command: "make", via: "policy", answer: "allowed" },
          { command: "rm x" },
          { command: "npm test" },
        ])
        const inForce = policyOf(allow("make", "make"), {
          id: "no-rm",
          effect: "deny",
          tool: "Bash",
          input: { command: "rm *" },
        })
        const proposed = policyOf(
          allow("tests", "npm test"),
          allow("push", "git push"),
          { id: "ask-make", effect: "ask", tool: "Bash", input: { command: "make" } },
          { id: "no-ls", effect: "deny", tool: "Bash", input: { command: "ls" } },
          allow("rm", "rm *"),
        )
        const result = await test(store, { inForce, proposed, maxExamples: 2 })
        expect(result).toMatchObject({ requests: 5, notTestable: 0, complete: true, since: "2030-01-01T00:00:00.000Z" })
        expect(result.noLongerAsked).toMatchObject({
          count: 4,
          examples: [{ ask: "ask4" }, { ask: "ask3", was: "deny" }],
        })
        expect(result.newlyAsked).toMatchObject({
          count: 1,
          examples: [{ was: "allow", would: "ask", rule: "ask-make" }],
        })
        expect(result.newlyDenied.count).toBe(0)
        expect(result.contradicts).toMatchObject({
          count: 1,
          examples: [
            {
              session: "s",
              seq: 2,
              ask: "ask1",
              at: "2030-01-01T00:01:00.000Z",
              tool: "Bash",
              text: "git push",
              was: "ask",
              would: "allow",
              rule: "push",
              by: "ann",
            },
          ],
        })
        const same = await test(store, { inForce, proposed: inForce })
        expect([same.noLongerAsked, same.newlyAsked, same.newlyDenied].map(({ count }) => count)).toEqual([0, 0, 0])
      }))

    it("[BT2] what a rule denied contradicts nobody, and neither does what the policy in force allows already", () =>
      withStore(async (store) => {
        await record(store, [
          { command: "git push", answer: "denied", via: "policy" },
          { command: "git pull", answer: "denied" },
        ])
        const inForce = policyOf(allow("pull", "git pull"))
        const result = await test(store, { inForce, proposed: policyOf(allow("all", "git *")) })
        expect(asksIn(result.noLongerAsked)).toEqual(["ask0"])
        expect(result.contradicts.count).toBe(0)
      }))

    it("[BT3] a request whose input is gone, cannot be read or is too long is counted, not judged", () =>
      withStore(async (store) => {
        await record(store, [
          {},
          { change: { seq: 99 } },
          { session: "purged", change: { sessionId: "nobody's" } },
          { tool: "Write", input: { file_path: "/srv/app/x", content: "x".repeat(5 * 1024 * 1024) } },
          {
            change: {
              request: {
                subtype: "can_use_tool",
                tool_name: "Bash",
                input: { command: "own", x: "x".repeat(100_000) },
              },
            },
          },
        ])
        const result = await test(store, { proposed: policyOf({ id: "all", effect: "allow", tool: "Bash" }) })
        expect(result).toMatchObject({ requests: 2, notTestable: 3 })
        expect(result.noLongerAsked.examples.map(({ text }) => text)).toEqual(["own", "ls"])
      }))

    it("[BT2] an allow for other hours contradicts a person too, and a rule that denies or asks at some hours is no excuse", () =>
      withStore(async (store) => {
        await record(store, [{ command: "git push", answer: "denied" }])
        const evening = { ...allow("push", "git push"), hours: { from: "20:00", to: "23:00" } }
        const night: Rule = {
          ...allow("night", "git push"),
          effect: "deny",
          hours: { from: "00:00", to: "06:00" },
        }
        for (const proposed of [policyOf(evening), policyOf(allow("push", "git push"), night)]) {
          const { contradicts, noLongerAsked } = await test(store, { proposed })
          expect(contradicts).toMatchObject({ count: 1, examples: [{ ask: "ask0", would: "allow", rule: "push" }] })
          expect(noLongerAsked.count).toBe(0)
          expect((await test(store, { inForce: proposed, proposed })).contradicts.count).toBe(0)
        }
        // A call that is allowed at some hours already contradicts at the others.
        const always = { inForce: policyOf(evening), proposed: policyOf(allow("push", "git push")) }
        expect((await test(store, always)).contradicts.count).toBe(1)
      }))

    it("[BT4] a request is judged in the folder and the mode in which it was made; one of an older hub, in its session's", () =>
      withStore(async (store) => {
        await record(store, [{ change: { judgedIn: { cwd: "/other", mode: "default" } } }, {}])
        const rule: Rule = { id: "here", effect: "allow", tool: "Bash", mode: "plan", cwd: "/srv/**" }
        expect(asksIn((await test(store, { proposed: policyOf(rule) })).noLongerAsked)).toEqual(["ask1"])
        const there: Rule = { id: "there", effect: "allow", tool: "Bash", mode: "default", cwd: "/other" }
        expect(asksIn((await test(store, { proposed: policyOf(there) })).noLongerAsked)).toEqual(["ask0"])
      }))

    it("[BT1] only requests since a time are judged, if so asked", () =>
      withStore(async (store) => {
        await record(
          store,
          Array.from({ length: 20 }, () => ({})),
        )
        const since = new Date(START + 13 * 60_000).toISOString()
        expect(await test(store, { proposed: EMPTY, since })).toMatchObject({ requests: 7, since })
        expect(await test(store, { proposed: EMPTY, since: "2031-01-01" })).toMatchObject({ requests: 0, since: null })
      }))

    it("[BT1] requests that no changed rule touches are the same for both, however they are written", () =>
      withStore(async (store) => {
        const commands = ["npm test && rm x", "npm test", "sudo rm x", 'bash -c "rm x"', "echo rm", "$X", "npm   test"]
        await record(store, [
          ...commands.map((command) => ({ command })),
          { tool: "Edit", input: { file_path: "/srv/app/a" } },
        ])
        const many = Array.from({ length: 20 }, (_, n) => allow(`r${n}`, `tool${n} *`))
        for (const rule of [allow("t", "npm test"), { ...allow("d", "rm *"), effect: "deny" as const }]) {
          const few = await test(store, { inForce: policyOf(...many), proposed: policyOf(...many, rule) })
          // With nothing in common, both are asked about everything.
          const all = await test(store, { inForce: policyOf(), proposed: policyOf(rule) })
          expect(few).toEqual(all)
        }
      }))

    it("[BT6] a policy that is none is refused with what is wrong with it", () =>
      withStore(async (store) => {
        const proposed = { rules: [{ id: "x", effect: "maybe" }] }
        await expect(test(store, { proposed })).rejects.toMatchObject({
          code: "policy/invalid",
          message: expect.stringMatching(/effect/),
        })
      }))

    it("[BT5] it tells how far it is, and ends when its caller leaves or the hub closes", () =>
      withStore(async (store) => {
        await record(
          store,
          Array.from({ length: 50 }, (_, n) => ({ command: `echo ${n}` })),
        )
        const job = { kind: "test", inForce: EMPTY, proposed: EMPTY, maxExamples: 1 } as const
        const steps: BacktestStep<Backtest>[] = []
        for await (const step of store.backtests.run(job)) steps.push(step)
        expect(steps[0]).toEqual({ progress: { judged: 0, total: 50 } })
        expect(steps.at(-1)).toMatchObject({ result: { requests: 50 } })
        const leaving = new AbortController()
        const left = resultOf(store.backtests.run(job, leaving.signal))
        leaving.abort()
        await expect(left).rejects.toMatchObject({ code: "hub/stopping" })
        // The next one gets its turn.
        expect(await resultOf(store.backtests.run(job))).toMatchObject({ requests: 50 })
        const closed = resultOf(store.backtests.run(job)).catch((error: unknown) => error)
        await store.backtests.close()
        expect(await closed).toMatchObject({ code: "hub/stopping" })
      }))

    it("[BT5] one test runs at a time, few wait, more are refused; the check of a change does not wait for them", () =>
      withStore(async (store) => {
        await record(store, [{ command: "ls", answer: "denied" }])
        const job = { kind: "test", inForce: EMPTY, proposed: policyOf(allow("ls", "ls")), maxExamples: 1 } as const
        const tests = Array.from({ length: 8 }, () => resultOf(store.backtests.run(job)))
        const check = resultOf(store.backtests.run({ ...job, kind: "denied" }))
        const outcomes = await Promise.allSettled(tests)
        expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(5)
        expect(outcomes.at(-1)).toMatchObject({ reason: { code: "hub/busy" } })
        expect((await check).contradicts.count).toBe(1)
      }))
  })

  describe(`suggestions contract: ${name}`, () => {
    const suggest = (store: Store, inForce: Policy = EMPTY) =>
      resultOf(store.backtests.run({ kind: "suggest", inForce, since: "2029-01-01T00:00:00.000Z" }))
    const times = (count: number, past: Past) =>
      Array.from({ length: count }, () => ({ answer: "allowed" as const, ...past }))

    it("[BT10] what people allowed five times and never denied becomes a rule that allows this and no more, with its test", () =>
      withStore(async (store) => {
        await record(store, [
          ...times(5, { command: "npm test" }),
          ...times(4, { command: "npm run lint" }),
          ...times(6, { command: "git push" }),
          { command: "git push", answer: "denied" },
          ...times(9, { command: "make", via: "policy" }),
          { command: "npm test" },
        ])
        const { suggestions, complete, requests } = await suggest(store)
        expect({ complete, requests }).toEqual({ complete: true, requests: 26 })
        expect(suggestions).toMatchObject([
          {
            rule: {
              id: "allow-bash-npm-test",
              effect: "allow",
              tool: "Bash",
              input: { command: "npm test" },
              cwd: "/srv/app",
            },
            allowed: 5,
            sessions: 1,
            people: ["ann"],
            test: { noLongerAsked: { count: 6 }, contradicts: { count: 0 } },
          },
        ])
      }))

    it("[BT10] a denial of long ago counts, and what was edited before it was allowed is no evidence", () =>
      withStore(async (store) => {
        const edited = { change: { answer: { behavior: "allow", updatedInput: { command: "npm test" } } } }
        await record(store, [
          { command: "git push", answer: "denied", change: { askedAt: "2020-01-01T00:00:00.000Z" } },
          ...times(6, { command: "git push" }),
          ...times(6, { command: "npm test", ...edited }),
        ])
        expect((await suggest(store)).suggestions).toEqual([])
      }))

    it("[BT12] rules in force that decided nothing are listed, and how often the others did", () =>
      withStore(async (store) => {
        await record(store, times(3, { command: "npm test" }))
        const old = { ...allow("old", "npm ci"), until: "2020-06-01T00:00:00.000Z" }
        const { decided, idle } = await suggest(
          store,
          policyOf(allow("tests", "npm test"), allow("unused", "make"), old),
        )
        expect(decided).toEqual([{ rule: "tests", count: 3, lastAt: "2030-01-01T00:02:00.000Z" }])
        expect(idle).toEqual([
          { rule: "unused", why: "unused" },
          { rule: "old", why: "expired" },
        ])
      }))
  })
}
