import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { type ReactNode, type SubmitEvent, useEffect } from 'react';
import { ApiError } from '../api/call.ts';
import type { UseMutationResult } from '@tanstack/react-query';
import { notifyDone } from './feedback.tsx';

interface FormDialogProps {
  readonly title: string;
  readonly submit: string;
  readonly danger?: boolean;
  readonly wide?: boolean;
  readonly pending: boolean;
  readonly error: Error | null;
  /** Fields that show a refusal about them themselves, by `fieldError`. */
  readonly fields?: readonly string[];
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A form in a dialog: it stays open with what was typed until it worked. */
export function FormDialog(props: FormDialogProps) {
  useFocusBack();
  const { title, submit, danger = false, wide = false, pending, onSubmit, onClose, children } = props;

  function send(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    // A dialog over a page with a form of its own: React passes events on by its tree.
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
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={pending} {...(danger ? { color: 'red' } : {})}>
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

/** A refusal that no field shows. */
export function FormError({ error, fields = [] }: FormErrorProps) {
  if (error === null) return null;
  if (error instanceof ApiError && error.field !== undefined && fields.includes(error.field)) return null;
  return (
    <Alert color="red" role="alert" style={{ overflowWrap: 'anywhere' }}>
      {error.message}
    </Alert>
  );
}

/** What to show under a field; undefined where the refusal is about something else. */
export function fieldError(error: Error | null, ...names: readonly string[]): string | undefined {
  if (!(error instanceof ApiError) || error.field === undefined) return undefined;
  return names.includes(error.field) ? error.message : undefined;
}

/** Gives the focus back to what had it before a dialog took it: who works by keyboard goes on where they were. */
export function useFocusBack(): void {
  useEffect(() => {
    const before = document.activeElement;
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
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

/** Before something is taken away for good. */
function ConfirmDialog({ children, onConfirm, ...rest }: ConfirmDialogProps) {
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
  /** What the person reads once it is gone. */
  readonly done: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Asks before something is taken away, and says that it is. */
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
