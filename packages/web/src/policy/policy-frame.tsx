import { Fragment, type ReactNode } from "react"
import { usePlace } from "../app/router.tsx"
import { ConnectionPlace, useScreenTitle } from "../app/screen.tsx"
import { classes } from "../design/classes.ts"
import { TabLinks } from "../design/tab-links.tsx"
import { VisibleText } from "../design/visible-text.tsx"
import { EFFECTS, type Phrase } from "./rule-words.ts"

const PAGES = [
  { href: "/policy", title: "Rules", at: /^\/policy(?:\/edit)?$/ },
  { href: "/policy/test", title: "Test", at: /^\/policy\/test$/ },
  { href: "/policy/grants", title: "Grants", at: /^\/policy\/grants$/ },
  { href: "/policy/versions", title: "Versions", at: /^\/policy\/versions/ },
  { href: "/audit", title: "Audit", at: /^\/audit/ },
] as const

interface FrameProps {
  readonly title: string
  readonly children: ReactNode
}

/** The head that all screens about the policy share, and their column. */
export function PolicyFrame({ title, children }: FrameProps) {
  useScreenTitle(title)
  const { path } = usePlace()
  return (
    <>
      <header className="shrink-0 border-b border-line">
        <div className="mx-auto max-w-5xl px-4 pt-2 tablet:px-6">
          <h1 className="text-page font-bold">Policy</h1>
          <TabLinks
            label="Policy"
            tabs={PAGES.map(({ href, title: name, at }) => ({ href, title: name, isHere: at.test(path) }))}
          />
        </div>
      </header>
      <ConnectionPlace />
      <div data-region="content" className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto flex max-w-5xl flex-col gap-4 px-4 py-4 tablet:px-6">{children}</div>
      </div>
    </>
  )
}

export function Code({ children }: { readonly children: string }) {
  return (
    <VisibleText
      as="code"
      text={children}
      className="rounded-mark bg-sunken box-decoration-clone px-1 font-mono text-dense"
    />
  )
}

/** A rule in words. Its verb has the colour of its effect. */
export function Sentence({ phrases }: { readonly phrases: readonly Phrase[] }) {
  return phrases.map((phrase, index) => (
    // Phrases have no name but their place.
    <Fragment key={index}>
      {typeof phrase !== "string" ? <Code>{phrase.code}</Code> : index === 0 ? <Verb text={phrase} /> : phrase}
    </Fragment>
  ))
}

function Verb({ text }: { readonly text: string }) {
  const known = EFFECTS.find(({ verb }) => text.startsWith(verb))
  if (known === undefined) return text
  return (
    <>
      <strong className={classes("font-bold", known.look)}>{known.verb}</strong>
      {text.slice(known.verb.length)}
    </>
  )
}
