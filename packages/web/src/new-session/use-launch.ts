import type { LaunchedSession } from "@signalbox/client"
import { type RefObject, useCallback, useEffect, useRef, useState } from "react"
import { useHubStore } from "../app/hub-context.ts"
import { navigate } from "../app/router.tsx"
import { forgetDraft, keepLaunch, restoreDraft } from "./kept-launch.ts"
import { type FieldProblem, type LaunchFields, problemOf, requestOf } from "./launch.ts"

/** The state of the launch. The form keeps what was typed, whatever comes of it. */
export type Launch =
  | { readonly name: "writing"; readonly problem?: FieldProblem; readonly failure?: string }
  | { readonly name: "starting" }
  | { readonly name: "by-hand"; readonly session: LaunchedSession; readonly command: string }

interface Launcher {
  readonly launch: Launch
  readonly start: (fields: LaunchFields) => Promise<void>
  /** Something in the form is another now. */
  readonly edited: (fields: LaunchFields) => void
}

export function useLaunch(query: URLSearchParams, form: RefObject<HTMLFormElement | null>): Launcher {
  const store = useHubStore()
  const [launch, setLaunch] = useState<Launch>({ name: "writing" })
  const isShown = useRef(false)
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
    }
  }, [])

  const problem = launch.name === "writing" ? launch.problem : undefined
  useEffect(() => {
    // Drawn by now: the part that the field is in may have been closed.
    if (problem !== undefined) form.current?.querySelector<HTMLElement>(`[name="${problem.field}"]`)?.focus()
  }, [problem, form])

  async function start(fields: LaunchFields): Promise<void> {
    if (launch.name === "starting") return
    const found = problemOf(fields)
    if (found !== undefined) return setLaunch({ name: "writing", problem: found })
    setLaunch({ name: "starting" })
    // It is sent: who leaves by Back and opens the form again does not send it once more.
    forgetDraft()
    try {
      const session = await store.hub.launch(requestOf(fields))
      // The stream may have told of it already, and then it knows more.
      if (!store.fleet.get().sessions.has(session.id)) store.takeSession(session)
      keepLaunch(session.id, fields)
      // Somebody who left the form stays where they are.
      if (!isShown.current) return
      forgetDraft()
      if (session.ingress === undefined) return navigate(`/s/${session.id}`, { replace: true })
      setLaunch({ name: "by-hand", session, command: session.ingress.command })
    } catch (error) {
      restoreDraft(String(query), fields)
      setLaunch({ name: "writing", failure: error instanceof Error ? error.message : String(error) })
    }
  }

  const edited = useCallback((fields: LaunchFields) => setLaunch((before) => withoutMended(before, fields)), [])
  return { launch, start, edited }
}

/** Problems of the form as it was are dropped after an edit, except one that is still there. */
function withoutMended(launch: Launch, fields: LaunchFields): Launch {
  if (launch.name !== "writing") return launch
  const { problem } = launch
  return problem !== undefined && problemOf(fields)?.field === problem.field
    ? { name: "writing", problem }
    : { name: "writing" }
}
