import { useMe } from "./hub-context.ts"

/** Who did something, as one says it to whoever reads: their own doing is told as theirs. */
export function useWho(): (name: string) => string {
  const me = useMe()
  return (name) => (name === me.name ? "you" : name)
}
