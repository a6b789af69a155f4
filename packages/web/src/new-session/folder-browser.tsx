import type { RunnerFolders } from "@signalbox/client"
import { useEffect, useRef, useState } from "react"
import { useHub } from "../app/hub-context.ts"
import { whyOf } from "../app/loaded.ts"
import { whileOpen } from "../app/value-store.ts"
import { Button } from "../design/button.tsx"
import { Notice, Skeleton } from "../design/notice.tsx"
import { VisibleText } from "../design/visible-text.tsx"

interface FolderBrowserProps {
  readonly machine: string
  /** Where it begins; empty for the home directory. */
  readonly from: string
  readonly onChoose: (path: string) => void
}

type Listing =
  | { readonly name: "loading" }
  | { readonly name: "failed"; readonly why: string }
  | { readonly name: "ready"; readonly found: RunnerFolders }

const ROW = "w-full justify-start! font-mono text-dense!"

/** A machine's folders, one level at a time: the one that is gone into is the one that is chosen. */
export function FolderBrowser({ machine, from, onChoose }: FolderBrowserProps) {
  const hub = useHub()
  const [path, setPath] = useState(from)
  const [listing, setListing] = useState<Listing>({ name: "loading" })
  /** The way home was taken: its path is known once it is listed. */
  const goesHome = useRef(false)
  useEffect(
    () =>
      whileOpen(
        hub.runners.folders(machine, path === "" ? {} : { path }),
        (found) => {
          setListing({ name: "ready", found })
          if (goesHome.current) onChoose(found.path)
          goesHome.current = false
        },
        (error) => setListing({ name: "failed", why: whyOf(error) }),
      ),
    [hub, machine, path],
  )
  function go(to: string): void {
    setListing({ name: "loading" })
    setPath(to)
    goesHome.current = to === ""
    if (to !== "") onChoose(to)
  }
  return (
    <div
      role="group"
      aria-label="Folders"
      className="max-h-64 overflow-y-auto rounded-control border border-line bg-surface p-1"
    >
      {listing.name === "loading" && <Skeleton rows={3} />}
      {listing.name === "failed" && (
        <Notice tone="neutral">
          Couldn't list folders: {listing.why}
          {path !== "" && <Button onClick={() => go("")}>Home</Button>}
        </Notice>
      )}
      {listing.name === "ready" && <Folders found={listing.found} onGo={go} />}
    </div>
  )
}

function Folders({ found, onGo }: { readonly found: RunnerFolders; readonly onGo: (path: string) => void }) {
  const { path, parent, folders, more } = found
  return (
    <>
      <p className="truncate px-3 py-1 font-mono text-meta text-text-3" title={path}>
        <VisibleText text={path} />
      </p>
      <ul>
        {parent !== null && (
          <li>
            <Button look="quiet" onClick={() => onGo(parent)} className={ROW}>
              <span aria-hidden="true">↑</span> Up
            </Button>
          </li>
        )}
        {folders.map(({ name, path: inside, isGit }) => (
          <li key={inside}>
            <Button look="quiet" onClick={() => onGo(inside)} className={ROW}>
              <span className="truncate">
                <VisibleText text={name} />
              </span>
              {isGit && <span className="ms-auto font-sans text-meta text-text-3">git</span>}
            </Button>
          </li>
        ))}
      </ul>
      {folders.length === 0 && <p className="px-3 py-1 text-dense text-text-3">No folders inside.</p>}
      {more && <p className="px-3 py-1 text-meta text-text-3">More folders not shown. Type a path.</p>}
    </>
  )
}
