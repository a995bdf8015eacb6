import './fonts.css';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { takeMeFromPage } from '../api/me.ts';
import { watchVisibility } from '../api/query.ts';
import { App } from './App.tsx';
import { requestFirst } from './router.tsx';

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
// react-remove-scroll, which dialogs use, takes its nonce from here.
setNonce(nonce);
takeMeFromPage();
watchVisibility();
requestFirst();

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App nonce={nonce} />
  </StrictMode>,
);
