export const HELP = `claude-sim: the CLI's side of the wire, from a scenario. No account, no network, no token.

  claude-sim --output-format stream-json --input-format stream-json --verbose --permission-prompt-tool stdio
  claude-sim --scenario fix-a-bug.yaml --profile 2.1.120 --sdk-url ws://127.0.0.1:8765/v1/ws/one

Takes every launch flag of the real CLI, as --flag value and as --flag=value; one it does not know is named on stderr.
Its own, each also a variable for hosts that write the command line themselves:

  --scenario FILE        SIGNALBOX_SIM_SCENARIO   what the model does, YAML or JSON; without one it answers anything
  --profile VERSION      SIGNALBOX_SIM_PROFILE    2.1.37, 2.1.120 or 2.1.325 (the default)
  --speed N|max          SIGNALBOX_SIM_SPEED      how fast the scenario is played; 1 is its own pace
  --seed N               SIGNALBOX_SIM_SEED       the same ids in every run
  --simulate-tools MODE  SIGNALBOX_SIM_TOOLS      pretend (the default): no command runs, no file is touched
                                                  real: Bash, Read, Write, Edit, Glob and Grep do what they are asked
  --model-url URL|env    SIGNALBOX_SIM_MODEL_URL  a scripted Messages API on this machine speaks instead of a scenario
`
