import { pages } from '../../text/en/pages.ts';
import { Page } from '../../ui/index.ts';

export const ToolServerPage = () => <Page title={pages.toolServer} />;
