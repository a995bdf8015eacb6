import './fonts.css';
import { setNonce } from 'get-nonce';
import { StrictMode, startTransition } from 'react';
import { takeMeFromPage } from '../api/me.ts';
import { watchVisibility } from '../api/query.ts';
import { App } from './App.tsx';
import { createRoot } from './react.ts';
import { router } from './router.tsx';

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
// react-remove-scroll, which dialogs use, takes its nonce from here.
setNonce(nonce);
takeMeFromPage();
watchVisibility();

/**
 * Nothing is rendered before the code of the page is there, and then as a transition, in parts of 5 ms: a router that
 * is rendered while it loads renders the frame twice, each time as one task. One that could not load tries again when it
 * is rendered.
 */
const start = async (): Promise<void> => {
  await Promise.allSettled([router.load()]);
  startTransition(() =>
    createRoot(document.getElementById('root')!).render(
      <StrictMode>
        <App nonce={nonce} />
      </StrictMode>,
    ),
  );
};

void start();
