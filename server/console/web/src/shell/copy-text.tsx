import { ActionIcon, CopyButton, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';

/** Text that people take elsewhere. */
export function CopyText({ text }: { readonly text: string }) {
  return (
    <span className="mono">
      {text}
      <CopyButton value={text} timeout={1500}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? 'Copied' : 'Copy'}>
            <ActionIcon size="xs" ml={6} onClick={copy} aria-label={`Copy ${text}`} style={{ verticalAlign: '-3px' }}>
              {copied ? <IconCheck size={12} /> : <IconCopy size={12} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </span>
  );
}
