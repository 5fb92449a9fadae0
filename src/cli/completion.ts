/** `plinth completion <shell>`: a script that completes commands and options. */
import type { Command } from 'commander'
import { configure } from './command/commander.ts'
import { misused } from './command/failure.ts'

const SHELLS = { bash, zsh, fish } as const

export function addCompletion(program: Command): void {
  configure(
    program
      .command('completion')
      .description('Print a completion script: eval "$(plinth completion bash)"')
      .argument('<shell>', Object.keys(SHELLS).join(', ')),
  ).action((shell: string) => {
    if (!Object.hasOwn(SHELLS, shell))
      throw misused(`The shell must be one of ${Object.keys(SHELLS).join(', ')}.`)
    process.stdout.write(SHELLS[shell as keyof typeof SHELLS](placesOf(program)))
  })
}

/** A command by its path, `plinth record`, with the words that may follow. */
type Place = { path: string; words: string[] }

function placesOf(command: Command, path = 'plinth', inherited: readonly string[] = []): Place[] {
  const options = [...inherited, ...command.options.flatMap(({ long }) => long ?? [])]
  const words = [...command.commands.map((each) => each.name()), ...options, '--help']
  const below = command.commands.flatMap((each) => placesOf(each, `${path} ${each.name()}`, options))
  return [{ path, words: [...new Set(words)] }, ...below]
}

/** Walks the words before the cursor through the commands; options and arguments stay where they are. */
function bash(places: readonly Place[]): string {
  const cases = places.map(({ path, words }) => `    '${path}') words='${words.join(' ')}' ;;`)
  const known = places.map(({ path }) => `'${path}'`).join('|')
  return `# Completion of plinth for bash.
_plinth() {
  local path=plinth words='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$path $word" in ${known}) path="$path $word" ;; esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _plinth plinth
`
}

/** zsh runs completions of bash. */
function zsh(places: readonly Place[]): string {
  return `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bash(places)}`
}

function fish(places: readonly Place[]): string {
  const known = places.map(({ path }) => `'${path}'`).join(' ')
  const cases = places.map(({ path, words }) => `    case '${path}'\n      printf '%s\\n' ${words.join(' ')}`)
  return `# Completion of plinth for fish.
function __plinth_words
  set -l path plinth
  for word in (commandline -opc)[2..]
    if contains -- "$path $word" ${known}
      set path "$path $word"
    end
  end
  switch $path
${cases.join('\n')}
  end
end
complete -c plinth -a '(__plinth_words)'
`
}
