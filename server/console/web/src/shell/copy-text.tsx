import { ActionIcon, CopyButton, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';

/** Text that people take elsewhere. */
export function CopyText({ text, label }: { readonly text: string; readonly label?: string }) {
  return (
    <span className="mono copy-text">
      <span>{text}</span>
      <CopyButton value={text} timeout={1500}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? 'Copied' : 'Copy'}>
            <ActionIcon size="xs" onClick={copy} aria-label={label ?? `Copy ${text}`}>
              {copied ? <IconCheck size={12} /> : <IconCopy size={12} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </span>
  );
}
