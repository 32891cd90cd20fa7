import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { Context } from '../context.ts';

/** Each script calls `coffer __complete -- WORD...`, whose last word is the one to complete, and offers the lines of its output. */
const scripts: Readonly<Record<string, string>> = {
  bash: `_coffer() {
  local IFS=$'\\n'
  COMPREPLY=($(coffer __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == */ ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o default -F _coffer coffer
`,
  zsh: `#compdef coffer
_coffer() {
  local -a found
  found=("\${(@f)$(coffer __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then
    [[ \${#found} -eq 1 && "\${found[1]}" == */ ]] && compadd -S '' -- "\${found[@]}" || compadd -- "\${found[@]}"
  else
    _files
  fi
}
compdef _coffer coffer
`,
  fish: `function __coffer_complete
  set -l words (commandline -opc)
  coffer __complete -- $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c coffer -a '(__coffer_complete)'
`,
  powershell: `Register-ArgumentCompleter -Native -CommandName coffer -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($wordToComplete -eq '') { $words += '' }
  coffer __complete -- @words 2>$null | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`,
};

/** Prints the script that completes command lines in a shell. */
export async function printCompletion(context: Context, [shell = '']: readonly string[]): Promise<void> {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
  if (script === undefined) {
    throw new ProgramError('BadArgument', `Unknown shell \`${shell}\`: it is ${Object.keys(scripts).join(', ')}`);
  }
  context.output.message(script.trimEnd(), { shell, script });
}
