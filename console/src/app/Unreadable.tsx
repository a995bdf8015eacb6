import { NotFound } from './Fallbacks.tsx';
import { Shell } from './Shell.tsx';

/** An address that the router can not read at all: `/%zz`. */
export const Unreadable = () => (
  <Shell>
    <NotFound />
  </Shell>
);
