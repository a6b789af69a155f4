import type { LaunchedSession } from "@signalbox/client"
import { type RefObject, useEffect, useRef, useState } from "react"
import { useHubStore } from "../app/hub-context.ts"
import { navigate } from "../app/router.ts"
import { forgetDraft, keepLaunch, restoreDraft } from "./kept-launch.ts"
import { type FieldProblem, type LaunchFields, problemOf, requestOf } from "./launch.ts"

/** Where the launch is. What was typed stays in the form whatever comes of it. */
export type Launch =
  | { readonly name: "writing"; readonly problem?: FieldProblem; readonly failure?: string }
  | { readonly name: "starting" }
  | { readonly name: "by-hand"; readonly session: LaunchedSession; readonly command: string }

interface LaunchOptions {
  readonly query: URLSearchParams
  readonly form: RefObject<HTMLFormElement | null>
  readonly fieldsOf: (form: HTMLFormElement) => LaunchFields
}

export interface Launcher {
  readonly launch: Launch
  readonly submit: (form: HTMLFormElement) => Promise<void>
  /** A field has another value now. */
  readonly changed: (field: EventTarget) => void
}

export function useLaunch({ query, form, fieldsOf }: LaunchOptions): Launcher {
  const store = useHubStore()
  const [launch, setLaunch] = useState<Launch>({ name: "writing" })
  const isShown = useRef(false)
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
    }
  }, [])

  async function submit(element: HTMLFormElement): Promise<void> {
    if (launch.name === "starting") return
    const fields = fieldsOf(element)
    const problem = problemOf(fields)
    if (problem !== undefined) {
      setLaunch({ name: "writing", problem })
      form.current?.querySelector<HTMLInputElement>(`[name="${problem.field}"]`)?.focus()
      return
    }
    setLaunch({ name: "starting" })
    // It is sent: who leaves by Back and opens the form again does not send it once more.
    forgetDraft()
    try {
      const session = await store.hub.launch(requestOf(fields))
      // The stream may have told of it already, and then it knows more.
      if (!store.fleet.get().sessions.has(session.id)) store.takeSession(session)
      keepLaunch(session.id, fields)
      // Who has left it stays where they are.
      if (!isShown.current) return
      forgetDraft()
      if (session.ingress === undefined) return navigate(`/s/${session.id}`, { replace: true })
      setLaunch({ name: "by-hand", session, command: session.ingress.command })
    } catch (error) {
      restoreDraft(String(query), fields)
      setLaunch({ name: "writing", failure: error instanceof Error ? error.message : String(error) })
    }
  }

  return { launch, submit, changed: (field) => setLaunch((before) => withoutMended(before, field)) }
}

/** What was said of the form as it was does not hold for what it is now; another field's problem does. */
function withoutMended(launch: Launch, changed: EventTarget): Launch {
  if (launch.name !== "writing") return launch
  const { problem } = launch
  const isElsewhere = problem !== undefined && "name" in changed && changed.name !== problem.field
  return isElsewhere ? { name: "writing", problem } : { name: "writing" }
}
