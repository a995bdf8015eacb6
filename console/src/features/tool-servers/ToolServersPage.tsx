import { pages } from '../../text/en/pages.ts';
import { Page } from '../../ui/index.ts';

export const ToolServersPage = () => <Page title={pages.toolServers} />;
