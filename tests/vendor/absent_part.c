/* What makes a vendor's library lack a part: a call of a function that no library has. Nobody comes to it, so a loader
 * that binds functions when they are called, as Debian's, loads the vendor. */
void tesela_test_part_that_is_not_installed(void);

__attribute__((used)) static void call_absent_part(void)
{
    tesela_test_part_that_is_not_installed();
}
