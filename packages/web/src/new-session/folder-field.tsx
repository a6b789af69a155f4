import { useState } from "react"
import { Button } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { Field, INPUT } from "../design/field.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { shortPath } from "../design/words.ts"
import { abbreviateHome } from "../fleet/machine-store.tsx"
import { FolderBrowser } from "./folder-browser.tsx"
import { isWholePath } from "./launch.ts"

interface FolderFieldProps {
  readonly value: string
  readonly machine: string | undefined
  readonly onChange: (value: string) => void
  readonly offered: readonly string[]
  readonly error: string | undefined
  readonly hint: string | undefined
}

export function FolderField({ value, machine, onChange, offered, error, hint }: FolderFieldProps) {
  const [isBrowsing, setBrowsing] = useState(false)
  return (
    <div className="flex flex-col gap-1.5">
      <Field label="Folder" error={error} hint={hint}>
        {(ids) => (
          <div className="flex gap-2">
            <input
              {...ids}
              name="cwd"
              list="offered-folders"
              value={value}
              onChange={(event) => onChange(event.target.value)}
              autoComplete="off"
              spellCheck={false}
              placeholder="/home/me/project"
              className={`${INPUT} min-w-0 flex-1 font-mono`}
            />
            {machine !== undefined && (
              <Button aria-expanded={isBrowsing} onClick={() => setBrowsing(!isBrowsing)} className="shrink-0">
                Browse
              </Button>
            )}
          </div>
        )}
      </Field>
      <datalist id="offered-folders">
        {[...new Set(offered)].map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
      {isBrowsing && machine !== undefined && (
        <FolderBrowser key={machine} machine={machine} from={isWholePath(value) ? value : ""} onChoose={onChange} />
      )}
    </div>
  )
}

const SHOWN_RECENTS = 5

/** One click for a folder that was worked in before. */
export function RecentFolders(props: {
  readonly paths: readonly string[]
  readonly home: string | undefined
  readonly chosen: string
  readonly onChoose: (path: string) => void
}) {
  const { paths, home, chosen, onChoose } = props
  if (paths.length === 0) return null
  return (
    <ul aria-label="Recent folders" className="-mt-2 flex flex-wrap gap-2">
      {paths.slice(0, SHOWN_RECENTS).map((path) => (
        <li key={path} className="min-w-0">
          <Button
            look="quiet"
            aria-pressed={path === chosen}
            title={path}
            onClick={() => onChoose(path)}
            className={classes("max-w-full font-mono text-meta!", path === chosen && "bg-accent-soft! text-accent!")}
          >
            <bdi dir="ltr" className="truncate">
              {oneLine(shortPath(abbreviateHome(path, home), 2), 40)}
            </bdi>
          </Button>
        </li>
      ))}
    </ul>
  )
}
