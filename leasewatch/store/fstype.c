#include "config.h"

#include "store/fstype.h"

#include <errno.h>
#include <stddef.h>
#include <sys/vfs.h>

/* linux/magic.h has most of these, but not in every version all. */
static const struct {
	unsigned long magic;
	struct fs_type type;
} known[] = {
	{ 0x00006969, { FS_FAR, "NFS" } },	   { 0x0000517b, { FS_FAR, "SMB" } },
	{ 0xff534d42, { FS_FAR, "CIFS" } },	   { 0xfe534d42, { FS_FAR, "SMB2" } },
	{ 0x01021997, { FS_FAR, "9P" } },	   { 0x00c36400, { FS_FAR, "Ceph" } },
	{ 0x5346414f, { FS_FAR, "AFS" } },	   { 0x6b414653, { FS_FAR, "AFS" } },
	{ 0x73757245, { FS_FAR, "Coda" } },	   { 0x0bd00bd0, { FS_FAR, "Lustre" } },
	{ 0x47504653, { FS_FAR, "GPFS" } },	   { 0x01161970, { FS_FAR, "GFS2" } },
	{ 0x7461636f, { FS_FAR, "OCFS2" } },	   { 0x786f4256, { FS_FAR, "vboxsf" } },
	{ 0xbacbacbc, { FS_FAR, "vmhgfs" } },	   { 0x65735546, { FS_PROGRAM, "FUSE" } },
	{ 0x794c7630, { FS_LAYERED, "overlayfs" } }, { 0x0000f15f, { FS_LAYERED, "eCryptfs" } },
};

int fs_type_of(int fd, struct fs_type *ret)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return -errno;
	*ret = (struct fs_type){ FS_LOCAL, "" };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (((unsigned long)fs.f_type & 0xffffffff) == known[i].magic)
			*ret = known[i].type;
	return 0;
}
