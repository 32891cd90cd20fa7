import { Button, Menu } from '@mantine/core';
import { IconChevronDown, IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react';
import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Status } from '../../../contract/identity-answers.ts';
import { notifyDone, notifyFailure } from './notify.ts';

type SetStatus = UseMutationResult<unknown, Error, { readonly name: string; readonly status: Status }>;

interface MoreMenuProps {
  /** A user or a group. */
  readonly of: { readonly name: string; readonly status: Status };
  readonly setStatus: SetStatus;
  readonly mayToggle: boolean;
  /** E.g. `Delete user…`. */
  readonly deleteLabel: string;
  readonly mayDelete: boolean;
  readonly onDelete: () => void;
  /** Items between switching it and deleting it. */
  readonly children?: ReactNode;
}

/** What is done more rarely with a user or a group. */
export function MoreMenu({ of, setStatus, mayToggle, deleteLabel, mayDelete, onDelete, children }: MoreMenuProps) {
  const { name, status } = of;
  const next = status === 'enabled' ? 'disabled' : 'enabled';

  function toggle(): void {
    setStatus.mutate(
      { name, status: next },
      {
        onSuccess: () => notifyDone(`${name} is ${next}.`),
        onError: (error) => notifyFailure(`${name} stays ${status}`, error),
      },
    );
  }

  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" rightSection={<IconChevronDown size={15} />}>
          More
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          disabled={!mayToggle}
          leftSection={next === 'disabled' ? <IconPlayerPause size={15} /> : <IconPlayerPlay size={15} />}
          onClick={toggle}
        >
          {next === 'disabled' ? 'Disable' : 'Enable'}
        </Menu.Item>
        {children}
        <Menu.Item color="red" disabled={!mayDelete} leftSection={<IconTrash size={15} />} onClick={onDelete}>
          {deleteLabel}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
