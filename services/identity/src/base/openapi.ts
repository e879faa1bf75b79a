export { bearer, errorResponses } from '@platform/service-kit';
