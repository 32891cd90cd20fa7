import type { Command, Option } from 'commander';
import { ProgramError } from '../platform/errors/program-error.ts';
import { commandOf, helpWords } from './command-words.ts';

/** The values of a boolean flag that Go's package `flag` takes. @see https://pkg.go.dev/flag#hdr-Command_line_flag_syntax */
const booleans: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
]);

/**
 * Rewrites the flags that scripts for mc spell as a Go program reads them: `--recursive=true`, `-r=false`, `-json`, `-d=2`. The library of the
 * command line refuses these. All other words stay as they are, also several short flags in one word.
 *
 * @throws ProgramError BadArgument for a boolean flag with another value
 */
export function flagWords(program: Command, words: readonly string[]): readonly string[] {
  const command = commandOf(program, words);
  const options = optionsOf(command);
  const kept: { readonly word: string; readonly option?: Option }[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') {
      kept.push(...words.slice(at).map((one) => ({ word: one })));
      break;
    }
    const flag = flagOf(word, options);
    if (flag === undefined) kept.push({ word });
    else if (takesValue(flag.option)) {
      kept.push({ word: withValue(flag) });
      const next = words[at + 1];
      if (flag.value !== undefined || next === undefined) continue;
      kept.push({ word: next });
      at += 1;
    } else if (flag.value === undefined) kept.push({ word: flag.name, option: flag.option });
    else {
      const isOn = booleans.get(flag.value);
      if (isOn === undefined) {
        const help = `${helpWords(program, words)} --help`;
        throw new ProgramError(
          'BadArgument',
          `Invalid value \`${flag.value}\` of ${flag.name}: it is true or false; see \`${help}\``,
        );
      }
      if (isOn) kept.push({ word: longName(flag), option: flag.option });
      else turnOff(program, flag.option, kept);
    }
  }
  return kept.map(({ word }) => word);
}

interface Flag {
  readonly option: Option;
  /** With its hyphens, as the definition of the option has it. */
  readonly name: string;
  /** The text after an equals sign. */
  readonly value: string | undefined;
}

/** Returns the flag that a word is; undefined for arguments, unknown flags and several short flags in one word. */
function flagOf(word: string, options: ReadonlyMap<string, Option>): Flag | undefined {
  const [, hyphens, text = '', value] = /^(--?)([^=-][^=]*)(?:=(.*))?$/s.exec(word) ?? [];
  if (hyphens === undefined) return undefined;
  const name = text.length > 1 ? `--${text}` : `${hyphens}${text}`;
  const option = options.get(name);
  return option && { option, name, value };
}

/** The options of a command and of those that it is below, by each of their names. */
function optionsOf(command: Command): ReadonlyMap<string, Option> {
  const named = new Map<string, Option>();
  for (let one: Command | null = command; one !== null; one = one.parent) {
    for (const option of [...one.options, one.createOption('-h, --help')]) {
      for (const name of [option.short, option.long])
        if (name !== undefined && !named.has(name)) named.set(name, option);
    }
  }
  return named;
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

function longName({ option, name }: Flag): string {
  return name.startsWith('--') ? name : (option.long ?? name);
}

/** A short flag has its value in the next word or, here, after the equals sign of its long name. */
function withValue(flag: Flag): string {
  return flag.value === undefined ? flag.name : `${longName(flag)}=${flag.value}`;
}

/** The flag also loses what was given before it, and for the whole program what a variable of the environment says. */
function turnOff(program: Command, option: Option, kept: { readonly option?: Option }[]): void {
  for (let at = kept.length - 1; at >= 0; at -= 1) if (kept[at]?.option === option) kept.splice(at, 1);
  if (program.options.includes(option) && !option.negate) program.setOptionValue(option.attributeName(), false);
}
