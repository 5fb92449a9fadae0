/** `plinth completion <shell>`: a script that completes commands and options. */
import type { Command, Option } from 'commander'
import { configure } from './command/command.ts'
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
    process.stdout.write(SHELLS[shell as keyof typeof SHELLS](placesOf(program), valuedOf(program)))
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

/** Options whose next word is their value, in every command that has them. */
function valuedOf(program: Command): string[] {
  const all = (command: Command): readonly Option[] => [...command.options, ...command.commands.flatMap(all)]
  const options = all(program)
  const flags = new Set(
    options.filter(({ required, optional }) => !required && !optional).map(({ long }) => long),
  )
  return [...new Set(options.flatMap(({ long }) => (long && !flags.has(long) ? long : [])))]
}

/** Walks the words before the cursor through the commands. Options, their values and arguments stay where they are. */
function bash(places: readonly Place[], valued: readonly string[]): string {
  const cases = places.map(({ path, words }) => `    '${path}') words='${words.join(' ')}' ;;`)
  const known = places.map(({ path }) => `'${path}'`).join('|')
  return `# Completion of plinth for bash.
_plinth() {
  local place=plinth words='' value='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ -n $value ]]; then value=''; continue; fi
    case "$word" in ${valued.join('|')}) value=1; continue ;; esac
    case "$place $word" in ${known}) place="$place $word" ;; esac
  done
  COMPREPLY=()
  if [[ -n $value ]]; then return; fi
  case "$place" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _plinth plinth
`
}

/** zsh runs completions of bash. Its own are started only where nothing has started them. */
function zsh(places: readonly Place[], valued: readonly string[]): string {
  return `(( $+functions[compdef] )) || { autoload -U +X compinit && compinit }
autoload -U +X bashcompinit && bashcompinit
${bash(places, valued).replace('for bash', 'for zsh')}`
}

function fish(places: readonly Place[], valued: readonly string[]): string {
  const known = places.map(({ path }) => `'${path}'`).join(' ')
  const cases = places.map(({ path, words }) => `    case '${path}'\n      printf '%s\\n' ${words.join(' ')}`)
  return `# Completion of plinth for fish.
function __plinth_words
  set -l place plinth
  set -l value
  for word in (commandline -opc)[2..]
    if test -n "$value"
      set value
    else if contains -- $word ${valued.join(' ')}
      set value 1
    else if contains -- "$place $word" ${known}
      set place "$place $word"
    end
  end
  test -n "$value"; and return
  switch $place
${cases.join('\n')}
  end
end
complete -c plinth -a '(__plinth_words)'
`
}
