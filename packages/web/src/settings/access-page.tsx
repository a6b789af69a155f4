import type { SignedInBrowser, Token } from "@signalbox/client"
import { type ReactNode, useState } from "react"
import { announce } from "../app/announcer.tsx"
import { hubNow, useNow } from "../app/clock.ts"
import { useHub, useHubStore, useMe } from "../app/hub-context.ts"
import { type Loading, useLoaded, whyOf } from "../app/loaded.ts"
import { Button } from "../design/button.tsx"
import { Confirm } from "../design/dialog.tsx"
import { PlusIcon } from "../design/icons.tsx"
import { Trouble, WhenReady } from "../design/notice.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { moment } from "../design/words.ts"
import { browserWords, revokeConsequence } from "./access-words.ts"
import { NewTokenDialog } from "./new-token.tsx"

/** Who can get in: the browsers that are signed in, and for admins the tokens. */
export function AccessSettings() {
  const hub = useHub()
  const isAdmin = useMe().role === "admin"
  // Read together: revoking a token signs browsers out.
  const access = useLoaded(async (): Promise<Access> => {
    const [browsers, tokens] = await Promise.all([hub.logins.list(), isAdmin ? hub.tokens.list() : NO_TOKENS])
    return { browsers, ...tokens }
  }, [hub, isAdmin])
  return (
    <div className="flex flex-col gap-8">
      <Browsers access={access} />
      {isAdmin && <Tokens access={access} />}
    </div>
  )
}

interface Access {
  readonly browsers: readonly SignedInBrowser[]
  readonly tokens: readonly Token[]
  /** Older tokens are left out. */
  readonly more: boolean
}

const NO_TOKENS = { tokens: [], more: false }

/** Something that is about to be taken away; it stays named while its dialog closes. */
interface Taking<T> {
  readonly item: T
  readonly isOpen: boolean
}

function Browsers({ access }: { readonly access: Loading<Access> }) {
  const store = useHubStore()
  const me = useMe()
  const [taking, setTaking] = useState<Taking<SignedInBrowser> | undefined>()
  const [trouble, setTrouble] = useState<string | undefined>()

  async function signOut({ id, current }: SignedInBrowser): Promise<void> {
    if (current) return store.signOut("You signed out.")
    try {
      await store.hub.logins.end(id)
      announce("Browser signed out")
      // The button goes with its row.
      document.getElementById("main")?.focus()
      setTrouble(undefined)
      access.again()
    } catch (error) {
      setTrouble(`Not signed out: ${whyOf(error)}`)
    }
  }

  return (
    <Part title="Signed-in browsers">
      <Trouble>{trouble}</Trouble>
      <WhenReady of={access} what="signed-in browsers">
        {({ browsers }) =>
          browsers.length === 0 ? (
            <p className="text-text-2">No browsers are signed in.</p>
          ) : (
            <List label="Signed-in browsers">
              {browsers.map((browser) => (
                <BrowserItem
                  key={browser.id}
                  browser={browser}
                  isOthers={browser.name !== me.name}
                  onSignOut={() => setTaking({ item: browser, isOpen: true })}
                />
              ))}
            </List>
          )
        }
      </WhenReady>
      {taking !== undefined && (
        <Confirm
          title={`Sign out ${taking.item.current ? "this browser" : browserWords(taking.item.browser)}?`}
          consequence="That browser must sign in again. Its drafts are kept."
          action="Sign out"
          open={taking.isOpen}
          onClose={() => setTaking({ ...taking, isOpen: false })}
          onConfirm={() => void signOut(taking.item)}
        />
      )}
    </Part>
  )
}

interface BrowserItemProps {
  readonly browser: SignedInBrowser
  readonly isOthers: boolean
  readonly onSignOut: () => void
}

function BrowserItem({ browser, isOthers, onSignOut }: BrowserItemProps) {
  const now = useNow()
  const words = browserWords(browser.browser)
  const since = browser.createdAt === null ? [] : [`signed in ${moment(Date.parse(browser.createdAt), now)}`]
  return (
    <Item
      title={words}
      mark={browser.current ? "This browser" : undefined}
      facts={[
        ...(isOthers ? [`${oneLine(browser.name, 60)}, ${browser.role}`] : []),
        ...since,
        `until ${moment(Date.parse(browser.expiresAt), now)}`,
      ]}
      action={
        <Button aria-label={`Sign out ${browser.current ? "this browser" : words}`} onClick={onSignOut}>
          Sign out…
        </Button>
      }
    />
  )
}

/** Usable ones of people, programs and machines. An agent's goes with its session. */
function isShown({ role, revokedAt, expiresAt }: Token): boolean {
  return role !== "agent" && revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > hubNow())
}

function Tokens({ access }: { readonly access: Loading<Access> }) {
  const hub = useHub()
  const [taking, setTaking] = useState<Taking<Token> | undefined>()
  const [isMaking, setMaking] = useState(false)
  const [trouble, setTrouble] = useState<string | undefined>()

  async function revoke({ id }: Token): Promise<void> {
    try {
      await hub.tokens.revoke(id)
      announce("Token revoked")
      document.getElementById("main")?.focus()
      setTrouble(undefined)
      access.again()
    } catch (error) {
      setTrouble(`Not revoked: ${whyOf(error)}`)
    }
  }

  return (
    <Part
      title="Tokens"
      action={
        <Button onClick={() => setMaking(true)}>
          <PlusIcon size={16} />
          Create token
        </Button>
      }
    >
      <p className="max-w-prose text-dense text-text-2">
        A token signs in a person, a program or a machine. Actions are recorded under its name.
      </p>
      <Trouble>{trouble}</Trouble>
      <WhenReady of={access} what="tokens">
        {({ tokens, more, browsers }) => (
          <>
            <List label="Tokens">
              {tokens
                .filter(isShown)
                .toReversed()
                .map((token) => (
                  <TokenItem key={token.id} token={token} onRevoke={() => setTaking({ item: token, isOpen: true })} />
                ))}
            </List>
            {more && <p className="text-meta text-text-3">Only the newest tokens are listed.</p>}
            {taking !== undefined && (
              <Confirm
                title={`Revoke “${nameOf(taking.item)}”?`}
                consequence={revokeConsequence(taking.item, browsers)}
                action="Revoke"
                open={taking.isOpen}
                onClose={() => setTaking({ ...taking, isOpen: false })}
                onConfirm={() => void revoke(taking.item)}
              />
            )}
          </>
        )}
      </WhenReady>
      <NewTokenDialog open={isMaking} onClose={() => setMaking(false)} onMade={access.again} />
    </Part>
  )
}

function nameOf({ name, role, id }: Token): string {
  return name === null ? `${role} ${id.slice(0, 8)}` : oneLine(name, 60)
}

function TokenItem({ token, onRevoke }: { readonly token: Token; readonly onRevoke: () => void }) {
  const now = useNow()
  const { role, createdAt, expiresAt } = token
  return (
    <Item
      title={nameOf(token)}
      facts={[
        role,
        `created ${moment(Date.parse(createdAt), now)}`,
        expiresAt === null ? "never expires" : `expires ${moment(Date.parse(expiresAt), now)}`,
      ]}
      action={
        <Button aria-label={`Revoke ${nameOf(token)}`} onClick={onRevoke}>
          Revoke…
        </Button>
      }
    />
  )
}

interface PartProps {
  readonly title: string
  readonly action?: ReactNode
  readonly children: ReactNode
}

function Part({ title, action, children }: PartProps) {
  return (
    <section className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="font-medium">{title}</h2>
        {action}
      </div>
      {children}
    </section>
  )
}

function List({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <ul aria-label={label} className="flex flex-col divide-y divide-line rounded-card border border-line bg-surface">
      {children}
    </ul>
  )
}

interface ItemProps {
  readonly title: string
  readonly mark?: string | undefined
  readonly facts: readonly string[]
  readonly action: ReactNode
}

function Item({ title, mark, facts, action }: ItemProps) {
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-2.5">
      <div className="flex min-w-0 flex-1 basis-60 flex-col gap-0.5">
        <p className="flex min-w-0 flex-wrap items-baseline gap-x-2">
          <bdi className="min-w-0 font-medium wrap-anywhere">{title}</bdi>
          {mark !== undefined && <span className="text-meta font-medium text-accent">{mark}</span>}
        </p>
        <p className="text-meta wrap-anywhere text-text-3">{facts.join(" · ")}</p>
      </div>
      {action}
    </li>
  )
}
