import {
  ActionIcon,
  Alert,
  Badge,
  Button,
  createTheme,
  Drawer,
  Modal,
  Paper,
  SegmentedControl,
  Table,
  Tooltip,
  type MenuProps,
} from '@mantine/core';
import { t } from './texts/texts.ts';

/** Verdigris: what bronze fittings of old chests turn into. The greys carry a little of it. */
export function consoleTheme() {
  return createTheme({
    primaryColor: 'patina',
    // White text on the filled colour has a contrast of 5.8 in both schemes.
    primaryShade: 7,
    autoContrast: true,
    black: '#1b211e',
    defaultRadius: 'sm',
    cursorType: 'pointer',
    respectReducedMotion: true,
    fontFamily: 'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif',
    fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
    fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
    headings: { fontWeight: '600', sizes: { h1: { fontSize: '1.25rem' }, h2: { fontSize: '1rem' } } },
    colors: {
      patina: [
        '#eef7f3',
        '#d9ece4',
        '#b3d9c9',
        '#88c4ab',
        '#63b192',
        '#489f7f',
        '#348a6c',
        '#25735a',
        '#1a5c48',
        '#0f4536',
      ],
      gray: [
        '#f6f8f6',
        '#eef1ee',
        '#e3e7e3',
        '#d4d9d5',
        '#bbc2bd',
        '#98a19b',
        '#6b746e',
        '#4d5550',
        '#343a37',
        '#1e2320',
      ],
      // White text on the eighth, which fills buttons, has a contrast of 5.5: Mantine's own has 3.8.
      red: [
        '#fff5f5',
        '#ffe3e3',
        '#ffc9c9',
        '#ffa8a8',
        '#ff8787',
        '#ff6b6b',
        '#fa5252',
        '#c92a2a',
        '#b42424',
        '#a61e1e',
      ],
      // The last one is the text of badges: Mantine's own has a contrast of 2.7 there.
      yellow: [
        '#fff9db',
        '#fff3bf',
        '#ffec99',
        '#ffe066',
        '#ffd43b',
        '#fcc419',
        '#fab005',
        '#f59f00',
        '#f08c00',
        '#7a4d00',
      ],
      dark: [
        '#d3d9d5',
        '#b2bab5',
        '#8d9691',
        '#69726d',
        '#3f4743',
        '#323936',
        '#272d2a',
        '#1b1f1d',
        '#151917',
        '#101311',
      ],
    },
    components: {
      ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', color: 'gray' } }),
      // A border and a tint: a filled area is louder than what the page is about.
      Alert: Alert.extend({
        vars: (_, { color = 'patina' }) => {
          const tone = `var(--mantine-color-${color}-filled)`;
          return {
            root: {
              '--alert-bg': `color-mix(in srgb, ${tone} ${color === 'gray' ? 4 : 6}%, var(--coffer-surface))`,
              '--alert-bd': `1px solid color-mix(in srgb, ${tone} ${color === 'gray' ? 0 : 38}%, var(--coffer-line))`,
            },
          };
        },
      }),
      Badge: Badge.extend({
        defaultProps: { radius: 'sm', variant: 'light' },
        styles: { label: { textTransform: 'none', fontWeight: 500, letterSpacing: 0 } },
      }),
      Button: Button.extend({ defaultProps: { size: 'sm' }, styles: { label: { fontWeight: 500 } } }),
      Drawer: Drawer.extend({
        defaultProps: {
          position: 'right',
          overlayProps: { backgroundOpacity: 0.25 },
          closeButtonProps: { 'aria-label': t.shell.close },
          // The header of the page is the only banner.
          attributes: { header: { role: 'presentation' } },
        },
      }),
      // Enter on its button goes to the first item. `Menu.extend` would load the menus with the first page, which has none.
      Menu: { defaultProps: { withInitialFocusPlaceholder: false } satisfies Partial<MenuProps> },
      Modal: Modal.extend({
        styles: { title: { fontWeight: 600 } },
        defaultProps: {
          centered: true,
          overlayProps: { backgroundOpacity: 0.35 },
          closeButtonProps: { 'aria-label': t.shell.close },
        },
      }),
      Paper: Paper.extend({ defaultProps: { withBorder: true } }),
      // Its own grey has a contrast of 4.3 on the grey of the control.
      SegmentedControl: SegmentedControl.extend({
        styles: { innerLabel: { color: 'var(--mantine-color-text)' }, label: { fontWeight: 500 } },
      }),
      Table: Table.extend({
        defaultProps: { verticalSpacing: 6, horizontalSpacing: 'sm', borderColor: 'var(--coffer-line)' },
      }),
      Tooltip: Tooltip.extend({ defaultProps: { openDelay: 300, withArrow: true, maw: 320, multiline: true } }),
    },
  });
}
