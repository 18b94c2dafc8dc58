/** Tokens of code hosts, package registries, and tools that build and check code. */
import { afterPrefix } from '../checks.js'
import { hasDigit, issuer, mixed, type Row, uuid } from './row.js'

const digits = { only: hasDigit }
const github = { check: afterPrefix, confidence: 0.99 }

export const code: readonly Row[] = [
  ...issuer(
    'GitHub',
    'https://docs.github.com/authentication/keeping-your-account-and-data-secure/about-authentication-to-github',
    ['github_token', 'ghp_<36 base62>', github],
    ['github_token', 'gho_<36 base62>', github],
    ['github_token', 'ghu_<36 base62>', github],
    ['github_token', 'ghs_<36 base62>', github],
    ['github_token', 'ghr_<36-255 base62>', digits],
    ['github_token', 'ghp_<37-255 base62>', digits],
    ['github_token', 'ghs_<37-255 base62>', digits],
    ['github_token', 'github_pat_<22 base62>_<59 base62>'],
    ['github_token', 'github_pat_<40-255 word>', digits]
  ),
  ...issuer(
    'GitLab',
    'https://docs.gitlab.com/security/tokens',
    ['gitlab_token', 'glpat-<20-300 word>', digits],
    ['gitlab_token', 'glpat-<27-300 word>.<2 lower36>.<9 lower36>'],
    ['gitlab_token', 'glpat-<27-300 word>.<9 lower36>'],
    ['gitlab_deploy_token', 'gldt-<20-64 word>', digits],
    ['gitlab_runner_token', 'glrt-<20-300 word>', digits],
    ['gitlab_runner_token', 'glrt-t<1 digit>_<20-300 word>', digits],
    ['gitlab_runner_token', 'glrtr-<20-64 word>', digits],
    ['gitlab_runner_token', 'GR1348941<20 word>'],
    ['gitlab_job_token', 'glcbt-<1-5 base62>_<20-64 word>'],
    ['gitlab_trigger_token', 'glptt-<20-64 word>', digits],
    ['gitlab_feed_token', 'glft-<20-64 word>', digits],
    ['gitlab_mail_token', 'glimt-<20-64 word>', digits],
    ['gitlab_agent_token', 'glagent-<40-64 word>', digits],
    ['gitlab_oauth_secret', 'gloas-<40-80 word>', digits],
    ['gitlab_scim_token', 'glsoat-<20-64 word>', digits],
    ['gitlab_feature_flag_token', 'glffct-<20-64 word>', digits],
    ['gitlab_session', '_gitlab_session=<32 hex>']
  ),
  ...issuer(
    'Atlassian',
    'https://support.atlassian.com/atlassian-account/docs/manage-api-tokens-for-your-atlassian-account',
    ['atlassian_token', 'ATATT3<60-250 any64>'],
    ['atlassian_admin_token', 'ATCTT3<60-250 any64>'],
    ['bitbucket_app_password', 'ATBB<28-40 base62>', digits],
    ['bitbucket_data_center_token', 'BBDC-<40-50 any64>', digits]
  ),
  ...issuer(
    'npm',
    'https://docs.npmjs.com/about-access-tokens',
    ['npm_token', 'npm_<36 base62>', { check: afterPrefix, confidence: 0.99 }],
    ['npm_registry_token', `_authToken=${uuid}`]
  ),
  ...issuer('PyPI', 'https://pypi.org/help/#apitoken', ['pypi_token', 'pypi-AgE<50-1000 word>']),
  ...issuer('RubyGems', 'https://guides.rubygems.org/api-key-scopes', ['rubygems_key', 'rubygems_<48 hex>']),
  ...issuer('NuGet', 'https://learn.microsoft.com/nuget/nuget-org/scoped-api-keys', [
    'nuget_key',
    'oy2<43 lower36>',
    digits
  ]),
  ...issuer('crates.io', 'https://doc.rust-lang.org/cargo/reference/publishing.html', [
    'crates_io_token',
    'cio<32 base62>',
    { only: mixed }
  ]),
  ...issuer('Clojars', 'https://github.com/clojars/clojars-web/wiki/Deploy-Tokens', [
    'clojars_token',
    'CLOJARS_<60 lower36>',
    digits
  ]),
  ...issuer(
    'Packagist',
    'https://packagist.com/docs',
    ['packagist_token', 'packagist_uut_<60-80 hex>'],
    ['packagist_token', 'packagist_out_<60-80 hex>'],
    ['packagist_token', 'packagist_ort_<60-80 hex>']
  ),
  ...issuer(
    'Open VSX',
    'https://github.com/eclipse/openvsx/wiki',
    ['openvsx_token', `ovsxp_${uuid}`],
    ['openvsx_token', `ovsxat_${uuid}`]
  ),
  ...issuer(
    'Docker Hub',
    'https://docs.docker.com/security/access-tokens',
    ['docker_token', 'dckr_pat_<27 word>'],
    ['docker_organization_token', 'dckr_oat_<32 word>']
  ),
  ...issuer(
    'JFrog',
    'https://jfrog.com/help/r/jfrog-platform-administration-documentation/access-tokens',
    ['artifactory_key', 'AKCp<64-74 base62>', digits],
    ['artifactory_reference_token', 'cmVmd<59 base62>', { only: mixed }]
  ),
  ...issuer(
    'SonarSource',
    'https://docs.sonarsource.com/sonarqube-server/latest/user-guide/managing-tokens',
    ['sonar_token', 'squ_<40 hex>'],
    ['sonar_token', 'sqp_<40 hex>'],
    ['sonar_token', 'sqa_<40 hex>'],
    ['sonar_token', 'sqco_<59 base62>']
  ),
  ...issuer(
    'Sourcegraph',
    'https://sourcegraph.com/docs/cli/how-tos/creating_an_access_token',
    ['sourcegraph_token', 'sgp_<40 hex>'],
    ['sourcegraph_token', 'sgp_local_<40 hex>'],
    ['sourcegraph_token', 'sgp_<16 hex>_<40 hex>'],
    ['sourcegraph_license', 'slk_<64 hex>']
  ),
  ...issuer(
    'Snyk',
    'https://docs.snyk.io/snyk-api',
    ['snyk_token', 'snyk_uat.<8 hex>.<40-400 word>.<40-400 word>.<40-400 word>'],
    ['snyk_token', 'snyk_sat.<8 hex>.<40-400 word>.<40-400 word>.<40-400 word>']
  ),
  ...issuer('StackHawk', 'https://docs.stackhawk.com', ['stackhawk_key', 'hawk.<20 word>.<20 word>']),
  ...issuer('Endor Labs', 'https://docs.endorlabs.com', ['endor_labs_key', 'endr+<16 word>', digits]),
  ...issuer(
    'CircleCI',
    'https://circleci.com/docs/managing-api-tokens',
    ['circleci_token', 'CCIPAT_<22 base62>_<40 hex>'],
    ['circleci_project_token', 'CCIPRJ_<22 base62>_<40 hex>']
  ),
  ...issuer('Buildkite', 'https://buildkite.com/docs/apis/managing-api-tokens', ['buildkite_token', 'bkua_<40 hex>']),
  ...issuer(
    'Harness',
    'https://developer.harness.io/docs/platform/automation/api',
    ['harness_token', 'pat.<22 word>.<24 base62>.<20 base62>'],
    ['harness_token', 'sat.<22 word>.<24 base62>.<20 base62>']
  ),
  ...issuer('Octopus Deploy', 'https://octopus.com/docs/octopus-rest-api', [
    'octopus_deploy_key',
    'API-<26-32 upper36>',
    digits
  ]),
  ...issuer(
    'Prefect',
    'https://docs.prefect.io',
    ['prefect_token', 'pnu_<36 base62>', digits],
    ['prefect_token', 'pnb_<36 base62>', digits]
  ),
  ...issuer(
    'dbt Cloud',
    'https://docs.getdbt.com/docs/dbt-cloud-apis',
    ['dbt_token', 'dbtc_<40-64 word>', digits],
    ['dbt_token', 'dbtu_<40-64 word>', digits]
  ),
  ...issuer('Gitpod', 'https://www.gitpod.io/docs', ['gitpod_token', 'gitpod_pat_<40-200 word>', digits]),
  ...issuer('Chromatic', 'https://www.chromatic.com/docs', ['chromatic_token', 'chpt_<16-32 hex>']),
  ...issuer('Ionic', 'https://ionic.io/docs/appflow', ['ionic_token', 'ion_<42 lower36>', digits]),
  ...issuer('Dependency-Track', 'https://docs.dependencytrack.org/integrations/rest-api', [
    'dependency_track_key',
    'odt_<32-255 base62>',
    digits
  ]),
  ...issuer('Portainer', 'https://docs.portainer.io/api/access', [
    'portainer_token',
    'ptr_<44-60 any64>',
    { only: mixed }
  ]),
  ...issuer(
    'SettleMint',
    'https://console.settlemint.com/documentation',
    ['settlemint_token', 'sm_aat_<16 base62>', digits],
    ['settlemint_token', 'sm_pat_<16 base62>', digits],
    ['settlemint_token', 'sm_sat_<16 base62>', digits]
  )
]
