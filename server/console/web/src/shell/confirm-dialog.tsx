import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { FormDialog } from './form-dialog.tsx';

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
export function ConfirmDialog({ children, onConfirm, ...rest }: ConfirmDialogProps) {
  return (
    <FormDialog danger {...rest} onSubmit={onConfirm}>
      <Text size="sm">{children}</Text>
    </FormDialog>
  );
}
