import { useEffect, useState } from 'react';
import { to } from '../routing/to.ts';
import { pages } from '../text/en/pages.ts';
import { shell } from '../text/en/shell.ts';
import { Bar, Button, ButtonLink } from '../ui/Button.tsx';
import { Box, Page } from '../ui/Page.tsx';
import { isOldVersion, reloadOnce } from './reload.ts';
import css from './Shell.module.css';

const Missing = ({ lead }: { lead: string }) => (
  <Page title={pages.notFound} lead={lead}>
    <Bar>
      <ButtonLink href={to('/')}>{pages.overview}</ButtonLink>
    </Bar>
  </Page>
);

export const NotFound = () => <Missing lead={`${shell.notFound} ${shell.notFoundMore}`} />;

/** The API of this platform does not have what the page needs. */
export const NotHere = () => <Missing lead={`${shell.notHere} ${shell.notHereMore}`} />;

/** A part of the application is gone. The new one is loaded, once. */
const Outdated = () => {
  const [loading, setLoading] = useState(true);
  useEffect(() => setLoading(reloadOnce()), []);
  return loading ? null : (
    <Page title={shell.newVersion} lead={shell.newVersionMore}>
      <Bar>
        <Button kind="primary" onClick={() => location.reload()}>
          {shell.reloadNow}
        </Button>
      </Bar>
    </Page>
  );
};

export const Crashed = ({ error }: { error: unknown }) =>
  isOldVersion(error) ? (
    <Outdated />
  ) : (
    <Page title={shell.crashedTitle} lead={`${shell.crashed} ${shell.crashedMore}`}>
      <Box padded>
        <pre>{error instanceof Error ? error.message : String(error)}</pre>
      </Box>
      <Bar>
        <Button kind="primary" onClick={() => location.reload()}>
          {shell.reload}
        </Button>
      </Bar>
    </Page>
  );

export const CrashedAlone = ({ error }: { error: unknown }) => (
  <main className={css.alone}>
    <Crashed error={error} />
  </main>
);
