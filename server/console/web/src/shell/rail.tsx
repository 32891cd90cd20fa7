import { Text } from '@mantine/core';
import {
  IconActivity,
  IconFingerprint,
  IconKey,
  IconPackages,
  IconScale,
  IconShieldCheck,
  IconUser,
  IconUserCircle,
  IconUsersGroup,
} from '@tabler/icons-react';
import type { Icon } from '@tabler/icons-react';
import { Link, useLocation } from 'react-router';
import { useRights } from '../api/rights.ts';

interface Page {
  readonly to: string;
  /** The page about one of them. */
  readonly one?: string;
  readonly name: string;
  readonly icon: Icon;
  readonly shown: boolean;
}

/** The pages that the person may use; the server refuses the others whatever is shown. */
export function Rail() {
  const { may, mayOwn } = useRights();
  return (
    <>
      <Pages
        pages={[
          { to: '/buckets', name: 'Buckets', icon: IconPackages, shown: true },
          { to: '/access-keys', name: 'Access keys', icon: IconKey, shown: mayOwn('admin:ListServiceAccounts') },
          { to: '/account', name: 'Account', icon: IconUserCircle, shown: true },
        ]}
      />
      <Pages
        title="Access"
        pages={[
          { to: '/users', one: '/user', name: 'Users', icon: IconUser, shown: may('admin:ListUsers') },
          {
            to: '/groups',
            one: '/group',
            name: 'Groups',
            icon: IconUsersGroup,
            shown: may('admin:ListGroups') && may('admin:GetGroup'),
          },
          {
            to: '/policies',
            one: '/policy',
            name: 'Policies',
            icon: IconShieldCheck,
            shown: may('admin:ListUserPolicies'),
          },
          { to: '/explain', name: 'Explain', icon: IconScale, shown: may('admin:ExplainPolicy') },
        ]}
      />
      <Pages
        title="Service"
        pages={[
          {
            to: '/identity-providers',
            one: '/identity-provider',
            name: 'Identity providers',
            icon: IconFingerprint,
            shown: may('admin:ConfigUpdate'),
          },
          { to: '/status', name: 'Status', icon: IconActivity, shown: may('admin:ServerInfo') },
        ]}
      />
    </>
  );
}

function Pages({ title, pages }: { readonly title?: string; readonly pages: readonly Page[] }) {
  const { pathname } = useLocation();
  const shown = pages.filter((page) => page.shown);
  if (shown.length === 0) return null;
  return (
    <>
      {title !== undefined && (
        <Text size="xs" c="dimmed" fw={600} px={10} pt="md" pb={4} component="h2">
          {title}
        </Text>
      )}
      {shown.map(({ to, one, name, icon: Symbol }) => (
        <Link
          key={to}
          to={to}
          className="rail-link"
          {...(isAt(pathname, to) || pathname === one ? { 'aria-current': 'page' } : {})}
        >
          <Symbol size={18} stroke={1.6} aria-hidden />
          <span>{name}</span>
        </Link>
      ))}
    </>
  );
}

function isAt(pathname: string, to: string): boolean {
  return pathname === to || pathname.startsWith(`${to}/`);
}
