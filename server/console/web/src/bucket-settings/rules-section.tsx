import { Button, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Loaded, Section } from '../components/detail-page.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { FormDialog, FormError } from '../components/form-dialog.tsx';
import type { EditorProps } from './setting-section.tsx';
import { useDraft } from '../components/use-draft.ts';

/** A rule in the list, with the functions of its buttons. */
export interface ListedRule<Rule> {
  readonly rule: Rule;
  readonly index: number;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

interface RulesSectionProps<Answer, Rule> {
  /** The name of the draft that remembers which dialog is open. */
  readonly draft: string;
  readonly title: string;
  readonly words: string;
  /** The error message, for example `The lifecycle cannot be shown`. */
  readonly what: string;
  /** The label of the button that adds a rule. */
  readonly add: string;
  /** The text for a bucket without rules. */
  readonly none: string;
  /** The message after the rules are saved. */
  readonly saved: string;
  readonly mayEdit: boolean;
  readonly query: UseQueryResult<Answer>;
  readonly rulesOf: (answer: Answer) => readonly Rule[];
  readonly set: { readonly isPending: boolean; readonly error: Error | null; readonly reset: () => void };
  readonly save: (rules: readonly Rule[], options: { readonly onSuccess: () => void }) => void;
  readonly row: (listed: ListedRule<Rule>) => ReactNode;
  /** Content below the rules. */
  readonly below?: (rules: readonly Rule[]) => ReactNode;
  /** The index is the number of rules for a new rule. */
  readonly dialog: (rules: readonly Rule[], index: number, editor: EditorProps<Rule>) => ReactNode;
}

/** Shows a list of rules of a bucket, and the dialog that adds or edits one. */
export function RulesSection<Answer, Rule>(props: RulesSectionProps<Answer, Rule>) {
  const { draft, title, words, what, add, none, mayEdit, query, rulesOf, set, row, below, dialog } = props;
  const [edited, setEdited] = useDraft<number | undefined>(`${draft}.index`, undefined);

  function save(rules: readonly Rule[]): void {
    props.save(rules, {
      onSuccess: () => {
        setEdited(undefined);
        notifyDone(props.saved);
      },
    });
  }

  function close(): void {
    set.reset();
    setEdited(undefined);
  }

  function list(rules: readonly Rule[]): ReactNode {
    return (
      <Stack gap="xs">
        {rules.length === 0 && (
          <Text size="sm" c="dimmed">
            {none}
          </Text>
        )}
        {rules.map((rule, index) =>
          row({
            rule,
            index,
            onEdit: () => setEdited(index),
            onRemove: () => save(rules.filter((_, at) => at !== index)),
          }),
        )}
        {edited === undefined && <FormError error={set.error} />}
        {below?.(rules)}
        {edited !== undefined &&
          dialog(rules, edited, {
            pending: set.isPending,
            error: set.error,
            onSave: (rule) => save([...rules.slice(0, edited), rule, ...rules.slice(edited + 1)]),
            onClose: close,
          })}
      </Stack>
    );
  }

  return (
    <Section
      title={title}
      words={words}
      action={
        mayEdit &&
        query.isSuccess && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconPlus size={14} />}
            onClick={() => setEdited(rulesOf(query.data).length)}
          >
            {add}
          </Button>
        )
      }
    >
      <Loaded what={what} query={query}>
        {(answer) => list(rulesOf(answer))}
      </Loaded>
    </Section>
  );
}

interface RuleDialogProps<Rule> extends EditorProps<Rule> {
  readonly title: string;
  readonly submit: string;
  readonly edited: Rule;
  /** The reason why the rule cannot be saved; undefined if it can. */
  readonly issue: string | undefined;
  readonly children: ReactNode;
}

/** A dialog for one rule. It shows the problem of the rule after the first attempt to save it. */
export function RuleDialog<Rule>(props: RuleDialogProps<Rule>) {
  const { edited, issue, onSave, error, ...dialog } = props;
  const [tried, setTried] = useState(false);

  function submit(): void {
    setTried(true);
    if (issue === undefined) onSave(edited);
  }

  return <FormDialog {...dialog} error={tried && issue !== undefined ? new Error(issue) : error} onSubmit={submit} />;
}
