import { matchPath, navigate, type ScreenProps } from "../app/router.tsx"
import { Button } from "../design/button.tsx"
import { Empty } from "../design/notice.tsx"

/** Screens that people look for by their address and that there are not yet: where to look instead. */
const NOT_YET = [
  {
    pattern: "/usage",
    words: "Usage has no screen yet. Each session shows its cost, its tokens and its limits.",
    action: "Go to sessions",
    addressOf: () => "/sessions",
  },
  {
    pattern: "/s/:id/replay",
    words: "A session can't be replayed yet. Its transcript has all of it: press Home to go to the beginning.",
    action: "Open the session",
    addressOf: (params: ScreenProps["params"]) => `/s/${encodeURIComponent(params["id"] ?? "")}`,
  },
]

export function Nowhere({ path }: { readonly path: string }) {
  const known = NOT_YET.map((one) => ({ ...one, params: matchPath(one.pattern, path) })).find(({ params }) => params)
  const { words = "Page not found.", action = "Go to sessions" } = known ?? {}
  const to = known?.addressOf(known.params ?? {}) ?? "/sessions"
  return <Empty action={<Button onClick={() => navigate(to)}>{action}</Button>}>{words}</Empty>
}
