import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode, SubmitEvent } from 'react';
import { ResponseError } from '../../../protocol/response-error.ts';
import type { UseMutationResult } from '@tanstack/react-query';
import { notifyDone } from './feedback.tsx';
import { useRestoreFocus } from './kept-focus.ts';
import { t } from '../texts/texts.ts';

interface FormDialogProps {
  readonly title: string;
  readonly submit: string;
  readonly danger?: boolean;
  readonly wide?: boolean;
  readonly pending: boolean;
  readonly error: Error | null;
  /** Fields that show their own errors by `fieldError`. */
  readonly fields?: readonly string[];
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A form in a dialog. It stays open with its input until the call succeeds. */
export function FormDialog(props: FormDialogProps) {
  useRestoreFocus();
  const { title, submit, danger = false, wide = false, pending, onSubmit, onClose, children } = props;

  function send(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    // React propagates the event to the form of the page below the dialog.
    event.stopPropagation();
    onSubmit();
  }

  return (
    <Modal opened onClose={onClose} title={title} size={wide ? 'lg' : 'md'} closeOnClickOutside={!pending}>
      <form onSubmit={send}>
        <Stack gap="md">
          {children}
          <FormError error={props.error} fields={props.fields ?? []} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose} data-autofocus={danger || undefined}>
              {t.labels.cancel}
            </Button>
            <Button type="submit" loading={pending} color={danger ? 'red' : undefined}>
              {submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface FormErrorProps {
  readonly error: Error | null;
  readonly fields?: readonly string[];
}

/** Shows an error that no field shows. */
export function FormError({ error, fields = [] }: FormErrorProps) {
  if (error === null) return null;
  if (fields.includes(fieldOf(error) ?? '')) return null;
  return (
    <Alert color="red" role="alert" style={{ overflowWrap: 'anywhere' }}>
      {error.message}
    </Alert>
  );
}

/** The field of the form that caused the error. */
function fieldOf(error: Error | null): string | undefined {
  return error instanceof ResponseError ? error.fields['field'] : undefined;
}

/** Returns the message for a field; undefined if another field caused the error. */
export function fieldError(error: Error | null, ...names: readonly string[]): string | undefined {
  return names.includes(fieldOf(error) ?? '') ? error?.message : undefined;
}

interface ConfirmDialogProps {
  readonly title: string;
  readonly submit: string;
  readonly pending: boolean;
  readonly error: Error | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Asks before something is deleted, or done that nobody can take back. */
export function ConfirmDialog({ children, onConfirm, ...rest }: ConfirmDialogProps) {
  return (
    <FormDialog danger {...rest} onSubmit={onConfirm}>
      <Text size="sm">{children}</Text>
    </FormDialog>
  );
}

interface RemoveDialogProps<What> {
  readonly title: string;
  readonly submit: string;
  readonly remove: UseMutationResult<unknown, Error, What>;
  readonly what: What;
  /** The message after the deletion. */
  readonly done: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Asks before something is deleted, deletes it, and reports it. */
export function RemoveDialog<What>({ remove, what, done, onDone, ...dialog }: RemoveDialogProps<What>) {
  return (
    <ConfirmDialog
      {...dialog}
      pending={remove.isPending}
      error={remove.error}
      onConfirm={() =>
        remove.mutate(what, {
          onSuccess: () => {
            notifyDone(done);
            onDone();
          },
        })
      }
    />
  );
}
