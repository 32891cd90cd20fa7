import { ActionIcon, CopyButton, Tooltip, Button } from '@mantine/core';
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

/** Takes a longer text along that is not shown as such. */
export function CopyButtonText({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <CopyButton value={text} timeout={1500}>
      {({ copied, copy }) => (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
          onClick={copy}
        >
          {copied ? 'Copied' : label}
        </Button>
      )}
    </CopyButton>
  );
}
