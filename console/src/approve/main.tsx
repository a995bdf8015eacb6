import '../app/fonts.css';
import '../ui/tokens.css';
import '../ui/base.css';
import './approve.css';
import { createRoot } from 'react-dom/client';
import { readPreference } from '../base/preferences.ts';
import { ApprovalPage } from './ApprovalPage.tsx';

// scheme.js, which runs before, chose by the same rule; the page follows when the system changes.
const dark = matchMedia('(prefers-color-scheme: dark)');
dark.addEventListener('change', () => {
  const chosen = readPreference('scheme');
  if (chosen === 'light' || chosen === 'dark') return;
  document.documentElement.dataset.mantineColorScheme = dark.matches ? 'dark' : 'light';
});

const id = decodeURIComponent(location.pathname.replace(/\/+$/, '').split('/').at(-1) ?? '');

createRoot(document.getElementById('root')!).render(<ApprovalPage id={id} />);
