import { pages } from '../text/en/pages.ts';
import { shell } from '../text/en/shell.ts';
import { Bar, Button, ButtonLink } from '../ui/Button.tsx';
import { Box, Page } from '../ui/Page.tsx';
import { to } from './addresses.ts';

/** No page has this address. */
export const NotFound = () => (
  <Page title={pages.notFound} lead={`${shell.notFound} ${shell.notFoundMore}`}>
    <Bar>
      <ButtonLink href={to.overview()}>{pages.overview}</ButtonLink>
    </Bar>
  </Page>
);

/** The API of this platform does not have what the page needs. */
export const NotHere = () => (
  <Page title={pages.notFound} lead={`${shell.notHere} ${shell.notHereMore}`}>
    <Bar>
      <ButtonLink href={to.overview()}>{pages.overview}</ButtonLink>
    </Bar>
  </Page>
);

/** Whether a part of the application is gone, because the platform was updated since the page was loaded. */
const isOldVersion = (error: unknown): boolean =>
  error instanceof Error &&
  /dynamically imported module|Importing a module script failed/.test(error.message);

/** A page threw. The others go on. */
export const Crashed = ({ error }: { error: unknown }) => (
  <Page
    title={shell.crashedTitle}
    lead={isOldVersion(error) ? shell.newVersion : `${shell.crashed} ${shell.crashedMore}`}
  >
    {!isOldVersion(error) && (
      <Box padded>
        <pre>{error instanceof Error ? error.message : String(error)}</pre>
      </Box>
    )}
    <Bar>
      <Button kind="primary" onClick={() => location.reload()}>
        {shell.reload}
      </Button>
    </Bar>
  </Page>
);
