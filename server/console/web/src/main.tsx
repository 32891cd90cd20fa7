import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './theme.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router';
import { basePath } from './api/call.ts';
import { queryClient } from './api/queries.ts';
import { App } from './app.tsx';
import { language } from './texts/language.ts';
import { loadFirstTexts } from './texts/texts.ts';
import { consoleTheme } from './theme.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
document.documentElement.lang = language;
async function start(element: Element): Promise<void> {
  await loadFirstTexts();
  createRoot(element).render(
    <StrictMode>
      <MantineProvider theme={consoleTheme()} defaultColorScheme="auto">
        <QueryClientProvider client={queryClient}>
          <Notifications position="top-right" limit={4} />
          <BrowserRouter basename={basePath() || '/'}>
            <App />
          </BrowserRouter>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}

void start(root);
