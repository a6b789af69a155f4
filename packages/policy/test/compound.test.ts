import { evaluate } from "@signalbox/policy"
import { parsePolicy } from "@signalbox/policy/schemas"
import { describe, expect, it } from "vitest"
import { allowing, bash, CONTEXT, denying, numbered, verdict } from "./subject.ts"

const effect = (patterns: readonly string[], command: string) =>
  bash(
    patterns.map((pattern) => allowing(pattern)),
    command,
  )

describe("a command with several parts", () => {
  it.each([
    [["npm ci*", "npm test*"], "npm ci && npm test"],
    [["npm ci*", "npm test*"], "npm ci; npm test -- x\nnpm ci"],
    [["git log *", "grep *"], "git log --oneline | grep fix"],
    [["ls *", "echo *"], "if ls x; then echo a; elif ls y; then echo b; else echo c; fi"],
    [["echo *", "date"], 'echo "built $(date)"'],
    [["echo *", "date"], "echo `date`"],
    [["comm *", "ls *"], "comm <(ls a) <(ls b)"],
    [["npm test", "2>&1"], "npm test 2>&1"],
    [["npm test", "> build/*"], "npm test > build/log.txt"],
    [["npm test", "> build/*"], "npm test > /srv/app/build/log.txt"],
    [["npm test", "> /dev/null", "2>&1"], "npm test >/dev/null 2>&1"],
    [["cat", "<<"], "cat <<'EOF'\nsome text\nEOF"],
    [["cat", "<<"], "cat <<EOF\nsome text!\nEOF"],
    [["cat", "<<", "date"], "cat <<EOF\nit is $(date)\nEOF"],
    [["npm test", "NODE_ENV=*"], "NODE_ENV=test npm test"],
    [["npm test", "CI=1"], "CI=1 npm test"],
  ])("[PO24] %j together allow %j", (patterns, command) => {
    expect(effect(patterns, command)).toBe("allow")
    for (const left of patterns) {
      const fewer = patterns.filter((each) => each !== left)
      expect([left, effect(fewer, command)]).toEqual([left, "ask"])
    }
  })

  it("[PO24] a rule takes part only if its other parts fit", () => {
    const here = { ...allowing(["npm ci", "cd *"]), cwd: "/srv/**" }
    expect(bash([here], "npm ci")).toBe("allow")
    expect(bash([here], "cd /srv/app/web && npm ci")).toBe("allow")
    expect(bash([here], "cd web && npm ci")).toBe("allow")
    expect(bash([here], "cd /tmp && npm ci")).toBe("ask")
    const elsewhere = { ...denying("npm *"), cwd: "/prod/**" }
    const all = { effect: "allow" as const, tool: "Bash" }
    expect(bash([elsewhere, all], "npm ci")).toBe("allow")
    expect(bash([elsewhere, all], "cd /prod/x && npm ci")).toBe("deny")
    expect(bash([elsewhere, all], "cd $X && npm ci")).toBe("ask")
    expect(bash([{ ...allowing("ls"), mode: "plan" }, allowing("pwd")], "pwd; ls")).toBe("ask")
  })

  it("[PO24] what Bash cannot read is asked about even where all of it is allowed, and denied where it is", () => {
    const all = { effect: "allow" as const, tool: "Bash" }
    for (const command of ["ls '", "ls; fi", "echo $(ls; fi)", "ls &&"]) {
      expect([command, bash([all], command)]).toEqual([command, "ask"])
    }
    expect(bash([all, denying("rm *")], "ls (rm x)")).toBe("deny")
  })

  it("[PO8] a deny finds redirections and variables", () => {
    const all = { effect: "allow" as const, tool: "Bash" }
    for (const command of ["ls > /etc/x", "ls >> /etc/x", "ls &> ../../etc/x", "{ ls; } 2>/etc/x"]) {
      expect([command, bash([all, denying("> /etc/**")], command)]).toEqual([command, "deny"])
    }
    expect(bash([all, denying("> /etc/**")], "ls > /tmp/x")).toBe("allow")
    expect(bash([all, denying("> /etc/**")], "ls > $X")).toBe("ask")
    for (const command of ["LD_PRELOAD=x ls", "env LD_PRELOAD=x ls", "export LD_PRELOAD=x"]) {
      expect([command, bash([all, denying("LD_PRELOAD=*")], command)]).toEqual([command, "deny"])
    }
    expect(bash([all, denying("LD_PRELOAD=*")], "A=1 ls")).toBe("allow")
  })
})

describe("a program that runs another one", () => {
  it.each([
    [["sudo *", "npm ci"], "sudo -u app npm ci"],
    [["sudo npm *"], "sudo npm ci"],
    [["sudo npm ci"], "sudo npm ci"],
    [["timeout *", "npm test*"], "timeout 60 npm test unit"],
    [["env *", "A=*", "npm ci"], "env A=1 npm ci"],
    [["find *", "grep *"], "find . -name '*.ts' -exec grep -l x {} +"],
    [["xargs *", "grep *", "ls"], "ls | xargs grep x"],
    [["bash -c", "ls*", "pwd"], "bash -c 'ls -l && pwd'"],
    [["bash -c 'echo $HOME'"], "bash -c 'echo $HOME'"],
    [["bash build.sh*"], "bash build.sh --fast"],
    [["make test"], "make test"],
    [["make test *"], "make test lint"],
    [["npx prettier *"], "npx prettier src"],
    [["npx prettier --write *"], "npx prettier --write src"],
    [["eslint *"], "eslint --ext .ts,.tsx --max-warnings 0 src"],
    [["prettier *"], "prettier --check ."],
    [["bat *"], "bat -pn --paging=never f"],
    [["ruff *"], "ruff check --select E,F src"],
    [["pytest *"], "pytest -qx --tb=short -k 'a or b' tests"],
    [["pytest *"], "pytest /srv/app/tests ../app/tests/a.py::test_x 'tests/a.py::test_x[a/../b]'"],
    [["pytest /tmp/a.py*"], "pytest /tmp/a.py -q"],
    [["eslint *", "prettier *"], "eslint /srv/app/src && prettier --check src/../src"],
    [["go *"], "go test ./..."],
    [["jest *"], "jest -t name --runInBand src"],
    [["vitest *"], "vitest run --coverage src"],
    [["mypy *"], "mypy --strict src"],
    [["tsc *"], "tsc --noEmit --pretty"],
    [["tsc -p *"], "tsc -p tsconfig.json --noEmit"],
    [["python tools/gen.py *"], "python tools/gen.py x"],
    [["git -c color.ui=never log"], "git -c color.ui=never log"],
    [["git *"], "git --no-pager log --oneline -n 5 -- src"],
    [["git commit *", "cat", "<<"], "git commit -m \"$(cat <<'EOF'\nFix it\nEOF\n)\""],
    [["npm *"], "npm install -D @types/node"],
    [["npm run *"], "npm run build -- --watch"],
    [["yarn build *"], "yarn build --prod"],
    [["python3 -m pytest *"], "python3 -m pytest -k x"],
    [["curl *"], "curl -sS -o /dev/null -w '%{http_code}' https://x"],
    [["sed *"], "sed -n '/a/,/b/{s/x/y/g;p}' f"],
    [["sed *"], "sed -E ':a;N;$!ba;s/ +/ /g' f"],
    [["awk *"], "awk -F: '$3 >= 5 || /x/ {print $1}' f"],
    [["tar *"], "tar xzf a.tgz -C out"],
    [["find *"], "find . -type f -mtime -7 -name '*.ts' -print0"],
    [["docker *"], "docker logs --tail 50 web"],
    [["diff *", "sort *"], "diff <(sort a) <(sort b)"],
    [["uv run pytest *"], "uv run pytest -q"],
    [["nix *"], "nix build .#x"],
    [["nix develop -c npm ci"], "nix develop -c npm ci"],
    [["conda *"], "conda install -c conda-forge numpy"],
    [["aws *", "pwd"], 'aws s3 cp "$(pwd)/x" s3://b/x'],
    [["gcloud *"], "gcloud compute instances list"],
    [["install *"], "install -m 644 a b"],
  ])("[PO27] %j allow %j", (patterns, command) => {
    const isTargetNamed = !command.includes("make test lint")
    expect(effect(patterns, command)).toBe(isTargetNamed ? "allow" : "ask")
  })

  it.each([
    [["sudo *"], "sudo npm ci"],
    [["bash *"], "bash build.sh"],
    [["make *"], "make test"],
    [["npx *"], "npx prettier src"],
    [["npx prettier *"], "npx prettier --write src"],
    [["npx * --write *"], "npx prettier --write src"],
    [["git -c *"], "git -c color.ui=never log"],
    [["bash", "echo *"], "echo ls | bash"],
    [["bash -c", "ls"], "bash -c 'ls $X'"],
  ])("[PO27] %j do not allow %j", (patterns, command) => {
    expect(effect(patterns, command)).toBe("ask")
  })

  it("[PO28] an option that writes must be named", () => {
    expect(effect(["sed *"], "sed -n 1,5p x")).toBe("allow")
    expect(effect(["sed *"], "sed -i s/a/b/ x")).toBe("ask")
    expect(effect(["sed -i *"], "sed -i s/a/b/ x")).toBe("allow")
    expect(effect(["sed -n*"], "sed -ni p x")).toBe("ask")
    expect(effect(["curl *"], "curl -s https://x")).toBe("allow")
    expect(effect(["curl *"], "curl -so x https://x")).toBe("ask")
    expect(effect(["tee *", "ls"], "ls | tee x")).toBe("allow")
    expect(effect(["*"], "ls | tee x")).toBe("ask")
  })
})

describe("a text for another shell", () => {
  it("[PO24] is asked about where it cannot be read, though all of Bash is allowed, and otherwise is allowed", () => {
    const all = { effect: "allow", tool: "Bash" } as const
    for (const command of ["bash -c 'ls ('", "sudo sh -c 'ls ('", "docker run x sh -c 'ls ('", "eval 'ls ('"]) {
      const { effect: found, reason, why } = verdict([all], "Bash", { command })
      expect([command, found]).toEqual([command, "ask"])
      expect(reason).toBe("No rule allows this because a text in it for another shell could not be read.")
      expect(why).toMatchObject({ field: "command", text: command })
    }
    for (const command of [
      "bash -c 'ls | cat'",
      'bash -c "$(cat x)"',
      'eval "$(ssh-agent -s)"',
      "trap 'rm -f x' EXIT",
      "trap - EXIT",
      "docker run x sh -c 'echo \"a b\"'",
      "grep 'f(' x",
    ])
      expect([command, bash([all], command)]).toEqual([command, "allow"])
  })

  it("[PO24] is asked about where it is nested too deep to be read", () => {
    const all = { effect: "allow", tool: "Bash" } as const
    expect(bash([all], `${"sudo ".repeat(4)}ls`)).toBe("allow")
    expect(bash([all], `${"sudo ".repeat(10)}ls`)).toBe("ask")
  })
})

describe("why", () => {
  it("[PO29] a compound names the rules that allow it, and the part that none does", () => {
    const rules = [allowing("npm ci*"), { effect: "deny" as const, tool: "Write" }, allowing("ls")]
    expect(verdict(rules, "Bash", { command: "npm ci && ls" })).toEqual({
      effect: "allow",
      rule: "r1",
      reason: 'Rules "r1", "r3" together allow every part of this.',
      why: {
        rules: [
          { id: "r1", place: 1, span: { start: 0, end: 6 } },
          { id: "r3", place: 3, span: { start: 10, end: 12 } },
        ],
        field: "command",
        span: { start: 0, end: 12 },
        text: "npm ci && ls",
        change: 'To be asked, change or remove rules "r1", "r3".',
      },
    })
    expect(verdict(rules, "Bash", { command: "npm ci; rm -rf /" })).toEqual({
      effect: "ask",
      reason: 'Rule "r1" allows a part of this, but no rule allows "rm -rf /".',
      why: {
        rules: [{ id: "r1", place: 1, span: { start: 0, end: 6 } }],
        field: "command",
        span: { start: 8, end: 16 },
        text: "rm -rf /",
        change: 'To allow it, add a rule that allows "rm -rf /".',
      },
    })
  })

  it("[PO29] a denial shows the part that is forbidden; a star that does not cover says why", () => {
    const { why } = verdict([denying("rm *")], "Bash", { command: "cd / && rm -rf ." })
    expect(why).toMatchObject({ field: "command", span: { start: 8, end: 16 }, text: "rm -rf ." })
    expect(verdict([allowing("sudo *")], "Bash", { command: "sudo rm x" }).reason).toBe(
      'Rule "r1" allows a part of this, but no rule allows "sudo rm x".',
    )
    expect(verdict([allowing("git *")], "Bash", { command: "git -c a=b log" }).reason).toBe(
      'Rule "r1" would allow this, but does not because nobody knows whether "-c" makes git run or write something else, and a star does not cover that.',
    )
    expect(verdict([allowing("sed *")], "Bash", { command: "sed -i x y" }).reason).toBe(
      'Rule "r1" would allow this, but does not because "-i" makes it write, and the rule does not name that.',
    )
  })

  it("[PO29] places are those of the policy; a grant has none and is revoked", () => {
    const rules = numbered([allowing("ls"), allowing("npm ci"), { effect: "ask", tool: "Write" }])
    const grants = [{ ...allowing("npm test"), id: "grant:7", session: "s1", reason: "ann allowed it" }]
    const policy = { rules: [...rules, ...grants], numbered: rules, relayAutoApproval: false }
    const judged = (command: string) => evaluate(policy, { tool: "Bash", input: { command } }, CONTEXT)
    expect(judged("npm test")).toMatchObject({
      effect: "allow",
      reason: "A grant of this session allows this: ann allowed it",
    })
    expect(judged("npm test").why).toMatchObject({
      rules: [{ id: "grant:7", span: { start: 0, end: 8 } }],
      change: "To be asked, revoke that grant.",
    })
    expect(judged("npm test").why.rules[0]).not.toHaveProperty("place")
    expect(judged("npm ci && npm test").why).toMatchObject({
      rules: [{ id: "r2", place: 2 }, { id: "grant:7" }],
      change: 'To be asked, change or remove rule "r2" or revoke that grant.',
    })
    const whole = { id: "grant:8", effect: "allow", tool: "Write" } as const
    const write = { tool: "Write", input: { file_path: "x" } }
    expect(evaluate({ ...policy, rules: [whole] }, write, CONTEXT).why).toEqual({
      rules: [{ id: "grant:8" }],
      change: "To be asked, revoke that grant.",
    })
    // A part of the rules, counted in all of them.
    expect(evaluate({ ...policy, rules: rules.slice(2) }, write, CONTEXT).why).toEqual({
      rules: [{ id: "r3", place: 3 }],
      change: 'To allow it without a person, change or remove rule "r3" (number 3).',
    })
  })

  it("[PO29] a path or another text that decided is told like a part of a command", () => {
    const secrets = { effect: "deny" as const, input: { file_path: "**/.env" } }
    expect(verdict([secrets], "Read", { file_path: "/srv/app/.env" }).why).toMatchObject({
      field: "file_path",
      span: { start: 0, end: 13 },
      text: "/srv/app/.env",
    })
    expect(verdict([secrets], "Read", { file_path: ["/srv/app/.env"] }).why).not.toHaveProperty("span")
  })

  it.each([
    ["a very long word", `rm ${"x".repeat(8_000)}`],
    ["very many words", `rm ${"-rf ".repeat(2_000)}`],
    ["many blanks", `rm${" ".repeat(8_000)}x`],
    ["half of a character at the cut", `rm ${"x".repeat(76)}😀😀😀`],
    ["unseen characters", `rm \u202e\u200b\u0007\u001b[2J${"\u00a0".repeat(200)}`],
    ["more than is looked at", `rm ${"x ".repeat(50_000)}`],
    ["words that make it write", `sed ${"-i ".repeat(2_000)} x`],
    ["a long word that makes it write", `sed -i${"x".repeat(8_000)} y`],
    ["very many parts", "ls;".repeat(2_000)],
  ])("[PO29] is short and made of whole characters, whatever the command: %s", (_what, command) => {
    const rules = [allowing("ls"), allowing("sed *"), allowing("git *")]
    for (const drafts of [rules, [...rules, denying("rm *")], [{ effect: "ask" as const }]]) {
      const { reason, why } = verdict(drafts, "Bash", { command })
      expect(reason.length).toBeLessThan(400)
      expect(why.change.length).toBeLessThan(250)
      expect((why.text ?? "").length).toBeLessThanOrEqual(81)
      expect(JSON.stringify([reason, why])).not.toMatch(/\\ud[89a-f]/)
    }
  })

  it("[PO29] too much work says so", () => {
    const rules = numbered(Array.from({ length: 900 }, (_, index) => denying([`* ${index} *`, `rm *${index}*`])))
    const request = { tool: "Bash", input: { command: "a b c;".repeat(1300) } }
    expect(evaluate({ rules, relayAutoApproval: false }, request, CONTEXT)).toMatchObject({
      effect: "ask",
      why: { change: "Shorter input or fewer patterns would be checked." },
    })
  })

  it("[PO16] variables and redirections are patterns, both with a command are not", () => {
    const problems = (command: string) => {
      const parsed = parsePolicy({ rules: [{ id: "x", effect: "allow", input: { command } }] })
      return parsed.ok ? [] : parsed.problems
    }
    for (const pattern of ["A=*", "> build/*", "2>&1", "<<", "< *"]) expect(problems(pattern)).toEqual([])
    expect(problems("npm ci > x").join()).toContain("allows nothing because it contains a redirection")
    expect(problems("npm ci $HOME").join()).toContain("allows nothing because it contains $")
  })
})
