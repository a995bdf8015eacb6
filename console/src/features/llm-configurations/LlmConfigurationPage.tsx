import { pages } from '../../text/en/pages.ts';
import { Page } from '../../ui/index.ts';

export const LlmConfigurationPage = () => <Page title={pages.llmConfiguration} />;
