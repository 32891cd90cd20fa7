import { Modal } from '@mantine/core';
import { useRestoreFocus } from '../components/kept-focus.ts';

interface DocumentDialogProps {
  readonly title: string;
  readonly document: unknown;
  readonly onClose: () => void;
}

/** Shows a JSON document, as text. */
export function DocumentDialog({ title, document, onClose }: DocumentDialogProps) {
  useRestoreFocus();
  return (
    <Modal opened onClose={onClose} title={title} size="xl">
      <pre className="document" tabIndex={0} aria-label={title}>
        {JSON.stringify(document, undefined, 2)}
      </pre>
    </Modal>
  );
}
