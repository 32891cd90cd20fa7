import type { UseMutationResult, UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Loaded, Section } from '../components/detail-page.tsx';
import { EditButton } from '../components/edit-buttons.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { isSame } from '../text/element-form.ts';
import { useDraft } from '../components/use-draft.ts';

/** The props of a dialog that edits a setting or a rule. */
export interface EditorProps<Value> {
  readonly pending: boolean;
  readonly error: Error | null;
  readonly onSave: (value: Value) => void;
  readonly onClose: () => void;
}

interface SettingSectionProps<Setting, Input> {
  /** The name of the draft that remembers whether the dialog is open. */
  readonly draft: string;
  readonly title: string;
  readonly words: string;
  /** The label of the button that opens the dialog. */
  readonly edit: string;
  /** The error message, for example `The quota cannot be shown`. */
  readonly what: string;
  readonly mayEdit: boolean;
  readonly query: UseQueryResult<Setting>;
  readonly set: UseMutationResult<unknown, Error, Input>;
  /** Returns the message after the setting is saved. */
  readonly saved: (input: Input) => string;
  readonly dialog: (setting: Setting, editor: EditorProps<Input>) => ReactNode;
  readonly children: (setting: Setting) => ReactNode;
}

/** Shows one setting of a bucket, with a button that opens its dialog. */
export function SettingSection<Setting, Input>(props: SettingSectionProps<Setting, Input>) {
  const { draft, title, words, edit, what, mayEdit, query, set, saved, dialog, children } = props;
  const [editing, setEditing] = useDraft(`${draft}.editing`, false);

  function save(setting: Setting, input: Input): void {
    // Nothing is sent where the user changed nothing.
    if (isSame(setting, input)) {
      close();
      return;
    }
    set.mutate(input, {
      onSuccess: () => {
        setEditing(false);
        notifyDone(saved(input));
      },
    });
  }

  function close(): void {
    set.reset();
    setEditing(false);
  }

  return (
    <Section
      title={title}
      words={words}
      action={mayEdit && query.isSuccess && <EditButton label={edit} onClick={() => setEditing(true)} />}
    >
      <Loaded what={what} query={query}>
        {(setting) => (
          <>
            {children(setting)}
            {editing &&
              dialog(setting, {
                pending: set.isPending,
                error: set.error,
                onSave: (input) => save(setting, input),
                onClose: close,
              })}
          </>
        )}
      </Loaded>
    </Section>
  );
}
